#!/usr/bin/env python3
"""Creates a plant. Repeats the request until the outcome is certain, at most four
times. Prints the Plant, the Error, or why there is no answer.

    URL=http://127.0.0.1:8080 TOKEN=... \\
        python3 examples/create.py '{"id":2,"name":"Monstera","tag":"indoor"}'

Exit status: 0 created, 1 not created, 2 usage error, 3 outcome unknown: an attempt
may have created the plant.
"""

import http.client
import ipaddress
import json
import os
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """The token is for the service alone: a redirect is no answer of it."""

    def redirect_request(self, *_):
        return None


def is_loopback(url: str) -> bool:
    """Reports whether a service is on this machine, where no proxy can reach it."""
    host = urllib.parse.urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def post(plant: str, key: str) -> tuple[int, str, str, str]:
    """Makes one attempt. Returns status, content type, Retry-After and body."""
    headers = {
        "Authorization": "Bearer " + os.environ["TOKEN"],
        "Content-Type": "application/json",
        "Idempotency-Key": key,
    }
    request = urllib.request.Request(os.environ["URL"].rstrip("/") + "/plants", plant.encode(), headers)
    handlers = [NoRedirects()]
    if is_loopback(os.environ["URL"]):
        handlers.append(urllib.request.ProxyHandler({}))  # without the proxies of the environment
    try:
        answer = urllib.request.build_opener(*handlers).open(request, timeout=20)  # seconds without a byte
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        body = answer.read().decode(errors="replace")
        return answer.status, answer.headers.get("Content-Type", ""), answer.headers.get("Retry-After", ""), body


def code(body: str) -> int:
    """Returns the code of an Error, 0 if body is something else."""
    try:
        return int(json.loads(body)["error"])
    except (ValueError, TypeError, KeyError):
        return 0


def create(plant: str, key: str) -> tuple[int, str]:
    """Returns the exit status, and the last answer, or what failed. Each attempt sends the same key."""
    unknown = False  # whether an attempt may have created the plant
    for wait in 1, 2, 4, 0:  # seconds
        try:
            status, content_type, retry_after, body = post(plant, key)
        except (OSError, http.client.HTTPException) as failure:
            status, content_type, retry_after, body = 0, "", "", f"no answer: {failure!r}"
        if 200 <= status < 300 and content_type == "application/json":
            return 0, body
        if code(body) == 5002 or not code(body) and not 400 <= status < 500:
            unknown = True
        elif status != 429 and not retry_after:
            if code(body) // 1000 in (1, 3):
                unknown = False  # no earlier attempt created it either
            break
        if wait:
            wait = int(retry_after) if re.fullmatch("[1-5]?[0-9]", retry_after) else wait
            print(f"not certain yet (status {status}): trying again in {wait} s", file=sys.stderr)
            time.sleep(wait)
    return 3 if unknown else 1, body


if len(sys.argv) != 2 or not os.environ.get("URL") or not os.environ.get("TOKEN"):
    print("usage: URL=... TOKEN=... python3 examples/create.py PLANT", file=sys.stderr)
    sys.exit(2)
if not os.environ["URL"].startswith(("http://", "https://")):
    print("URL must begin with http:// or https://", file=sys.stderr)
    sys.exit(2)
if not re.fullmatch("[!-~]+", os.environ["TOKEN"]):
    print("TOKEN must be one line of visible ASCII characters, without a space", file=sys.stderr)
    sys.exit(2)
key = str(uuid.uuid4())
status, body = create(sys.argv[1], key)
print(body)
if status == 3:
    print(f"outcome unknown: an attempt with the Idempotency-Key {key} may have created the plant", file=sys.stderr)
sys.exit(status)
