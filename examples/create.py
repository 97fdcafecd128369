#!/usr/bin/env python3
"""Creates a plant, and retries as openapi.yaml says. Prints the last answer. Exits with 1 if the plant was refused, and
with 2 if the outcome is not certain.

    URL=http://127.0.0.1:8080 TOKEN=... python3 examples/create.py '{"id":2,"name":"Fern"}'

It first prints an IDEMPOTENCY_KEY. To retry the same request later, run it again with that variable set.
"""

import contextlib
import http.client
import json
import os
import sys
import time
import urllib.parse
import uuid


def post(url, headers, plant):
    """Returns the answer's status, Retry-After and body. Without an answer, the status is 0."""
    connect = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    try:
        with contextlib.closing(connect(url.netloc, timeout=10)) as connection:  # seconds
            connection.request("POST", url.path.rstrip("/") + "/plants", plant.encode(), headers)
            answer = connection.getresponse()
            return answer.status, answer.headers.get("Retry-After", ""), answer.read().decode(errors="replace")
    except (OSError, ValueError, http.client.HTTPException) as failure:
        return 0, "", f"no answer: {failure!r}"


def decode(body):
    """Returns the JSON object in body, or an empty one."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


url = urllib.parse.urlsplit(os.environ.get("URL", ""))
token = os.environ.get("TOKEN")
if len(sys.argv) != 2 or not url.netloc or not token:
    sys.exit("usage: URL=http://HOST TOKEN=... python3 examples/create.py PLANT")
key = os.environ.get("IDEMPOTENCY_KEY") or str(uuid.uuid4())
print(f"IDEMPOTENCY_KEY={key}", file=sys.stderr)
headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json", "Idempotency-Key": key}

wait = 0  # seconds
for attempt in range(4):
    time.sleep(wait)
    status, retry_after, body = post(url, headers, sys.argv[1])
    code = decode(body).get("error")
    if not (status in (0, 429) or status >= 500 or isinstance(code, int) and code >= 5002):
        break
    wait = 2**attempt * (int(retry_after) if retry_after.isdecimal() else 1)
sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may not support every character
print(body)
if status == 200 and "name" in decode(body):
    sys.exit(0)
repeated = attempt > 0 or "IDEMPOTENCY_KEY" in os.environ  # then a 2xxx says nothing about earlier attempts
refused = isinstance(code, int) and code < 5000 and not (code // 1000 == 2 and repeated)
sys.exit(1 if refused else 2)
