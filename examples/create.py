#!/usr/bin/env python3
"""Creates a plant, and retries as openapi.yaml says.

    URL=http://127.0.0.1:8080 TOKEN=... python3 examples/create.py '{"id":4,"name":"Moss"}'; echo $?

It starts by printing an IDEMPOTENCY_KEY on standard error, and ends by printing the last answer on standard output.
`echo $?` shows its exit status: 0 if the plant was created, 1 if it was refused, and 2 if neither is certain.
After a 2, run it again later with the same plant and that IDEMPOTENCY_KEY=... in front; if the answer is 5001, ask the
operator first.
"""

import contextlib
import http.client
import json
import multiprocessing.pool
import os
import re
import sys
import time
import urllib.parse
import uuid

ATTEMPT_SECONDS = 10  # from connecting to the last byte of the answer
MAX_ANSWER = 6 << 20  # bytes: Lambda sends no more


def post(url, headers, plant):
    """Returns the answer's status, Retry-After and body."""
    connect = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    with contextlib.closing(connect(url.netloc, timeout=ATTEMPT_SECONDS)) as connection:
        connection.request("POST", url.path.rstrip("/") + "/plants", plant, headers)
        answer = connection.getresponse()
        body = answer.read(MAX_ANSWER + 1)
        if len(body) > MAX_ANSWER:
            body = b"the answer is too long"
        elif answer.length:  # bytes that have not come
            raise http.client.IncompleteRead(body, answer.length)
        return answer.status, answer.headers.get("Retry-After", ""), body.decode(errors="replace")


def decode(body):
    """Returns the JSON object in body, or an empty one."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def create():
    """Makes up to four attempts, and gives up rather than wait for over a minute. Returns the exit status."""
    url, token = urllib.parse.urlsplit(os.environ.get("URL", "")), os.environ.get("TOKEN", "")
    has_address = url.scheme in ("http", "https") and url.netloc
    has_token = re.fullmatch("[A-Za-z0-9._~+/=-]+", token)  # as in RFC 6750
    if len(sys.argv) != 2 or not has_address or not has_token:
        print("usage: URL=http://HOST TOKEN=... create.py PLANT; TOKEN has no space or line end", file=sys.stderr)
        return 2
    old_key = os.environ.get("IDEMPOTENCY_KEY")
    key = old_key or str(uuid.uuid4())
    print(f"IDEMPOTENCY_KEY={key}", file=sys.stderr)
    headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json", "Idempotency-Key": key}

    threads = multiprocessing.pool.ThreadPool(4)  # the timeout of a connection starts again with every byte
    wait = 0  # seconds
    for attempt in range(4):
        time.sleep(wait)
        try:
            request = threads.apply_async(post, (url, headers, os.fsencode(sys.argv[1])))
            status, retry_after, body = request.get(ATTEMPT_SECONDS)
        except Exception as failure:
            status, retry_after, body = 0, "", repr(failure)
        code = decode(body).get("error")
        code = code if isinstance(code, int) else 0
        wait = 2**attempt * (float(retry_after) if retry_after.isdecimal() else 1)
        if not (status in (0, 429) or status >= 500 or code >= 5002) or wait > 60:
            break
    with open(1, "w", errors="backslashreplace") as output:  # a terminal may not support every character
        print(status or "no answer:", body.replace(token, "TOKEN"), file=output)

    if status == 200 and isinstance(decode(body).get("name"), str):
        return 0
    # 1xxx and 3xxx are certain after earlier attempts too: each time the service checks the same plant, and recognizes
    # its own by the key. 2xxx is about the token of the last attempt alone.
    kind = code // 1000
    refused = kind in (1, 3) or kind == 2 and attempt == 0 and not old_key
    return 1 if status == 400 and refused else 2


try:
    exit_status = create()
except Exception:  # Python would exit with 1, which means refused
    sys.excepthook(*sys.exc_info())
    exit_status = 2
sys.exit(exit_status)
