#!/usr/bin/env python3
"""Creates a plant, and repeats the request until it is certain what became of
it, four times at most. Prints the Plant, or the Error and ends with 1.

    URL=http://127.0.0.1:8080 TOKEN=... \\
        python3 examples/create.py '{"id":3,"name":"Monstera","tag":"indoor"}'
"""

import http.client
import os
import re
import sys
import time
import urllib.error
import urllib.request
import uuid


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """The token is for the service alone: a redirect is no answer of it."""

    def redirect_request(self, *_):
        return None


def post(plant: str, key: str) -> tuple[int, str, str, str]:
    """Makes one attempt. Returns status, content type, Retry-After and body."""
    headers = {
        "Authorization": "Bearer " + os.environ["TOKEN"].strip(),
        "Content-Type": "application/json",
        "Idempotency-Key": key,
    }
    request = urllib.request.Request(os.environ["URL"].rstrip("/") + "/plants", plant.encode(), headers)
    try:
        answer = urllib.request.build_opener(NoRedirects).open(request, timeout=20)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        body = answer.read().decode(errors="replace")
        return answer.status, answer.headers.get("Content-Type", ""), answer.headers.get("Retry-After", ""), body


def create(plant: str) -> tuple[bool, str]:
    """Returns whether the plant is created, and the last answer, or what failed."""
    key = str(uuid.uuid4())  # of this plant: each attempt sends the same
    for wait in 1, 2, 4, 0:  # seconds
        try:
            status, content_type, retry_after, body = post(plant, key)
        except (OSError, http.client.HTTPException) as failure:
            status, content_type, retry_after, body = 0, "", "", f"no answer: {failure!r}"
        if status == 200 and content_type == "application/json":
            return True, body
        if 400 <= status < 500 and status != 429 and not retry_after:
            return False, body
        if wait:
            wait = int(retry_after) if re.fullmatch("[1-5]?[0-9]", retry_after) else wait
            print(f"not certain yet (status {status}): trying again in {wait} s", file=sys.stderr)
            time.sleep(wait)
    return False, body


if len(sys.argv) != 2 or not os.environ.get("URL") or not os.environ.get("TOKEN"):
    print("usage: URL=... TOKEN=... python3 examples/create.py PLANT", file=sys.stderr)
    sys.exit(2)
created, body = create(sys.argv[1])
print(body)
sys.exit(not created)
