#!/usr/bin/env python3
"""Creates a plant, and retries as openapi.yaml says. Prints the last answer.

    URL=http://127.0.0.1:8080 TOKEN=... python3 examples/create.py '{"id":2,"name":"Fern"}'

Exit status: 0 created, 1 another answer, or none, 2 usage error. With the IDEMPOTENCY_KEY that it prints first,
another run is a retry.
"""

import contextlib
import http.client
import json
import os
import re
import sys
import time
import urllib.parse
import uuid


def post(url: urllib.parse.SplitResult, headers: dict, plant: str) -> tuple[int, str, str]:
    """Returns status, Retry-After and body of the answer. Without an answer, the status is 0. Uses no proxy."""
    connect = http.client.HTTPConnection if url.scheme == "http" else http.client.HTTPSConnection
    try:
        with contextlib.closing(connect(url.netloc, timeout=10)) as connection:  # seconds
            connection.request("POST", url.path.rstrip("/") + "/plants", plant.encode(), headers)
            answer = connection.getresponse()
            return answer.status, answer.headers.get("Retry-After", ""), answer.read().decode(errors="replace")
    except (OSError, http.client.HTTPException, UnicodeError) as failure:
        return 0, "", f"no answer: {failure!r}"


def decode(body: str) -> tuple[bool, int]:
    """Returns whether body is a Plant, and the code if it is an Error."""
    try:
        answer = json.loads(body)
        return "name" in answer.keys(), int(answer.get("error", 0))
    except (ValueError, TypeError, AttributeError):  # it is not the service's
        return False, 0


def create(url: urllib.parse.SplitResult, headers: dict, plant: str) -> tuple[bool, str]:
    """Makes at most four attempts. Returns whether the plant is created, and the last answer."""
    wait = 0  # seconds
    for factor in 1, 2, 4, 0:
        time.sleep(wait)
        status, retry_after, body = post(url, headers, plant)
        is_plant, code = decode(body)
        if status == 200:
            return is_plant, body
        if not (status in (0, 429) or status >= 500 or code >= 5002):
            break
        wait = factor * (int(retry_after) if re.fullmatch("[0-9]{1,2}", retry_after) else 1)
    return False, body


url = urllib.parse.urlsplit(os.environ.get("URL", ""))
token = os.environ.get("TOKEN", "")
key = os.environ.get("IDEMPOTENCY_KEY") or str(uuid.uuid4())
is_valid = url.scheme in ("http", "https") and url.netloc and token and re.fullmatch("[!-~]+", token + key)
if len(sys.argv) != 2 or not is_valid:
    print("usage: URL=http://HOST TOKEN=... python3 examples/create.py PLANT", file=sys.stderr)
    sys.exit(2)
print(f"IDEMPOTENCY_KEY={key}", file=sys.stderr)
headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json", "Idempotency-Key": key}
sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may not have every character
created, body = create(url, headers, sys.argv[1])
print(body)
sys.exit(0 if created else 1)
