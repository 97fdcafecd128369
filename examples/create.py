#!/usr/bin/env python3
"""Creates a plant, as README's "Retry safely" says. Makes at most four attempts. Uses no proxy. Prints the last answer.

    URL=http://127.0.0.1:8080 TOKEN=... python3 examples/create.py '{"id":2,"name":"Monstera"}'

Exit status: 0 created, 1 not created, 2 usage error, 3 outcome unknown: after 5001, ask
the operator; otherwise, run it again with the IDEMPOTENCY_KEY that it prints.
"""

import http.client
import json
import os
import re
import sys
import time
import urllib.parse
import uuid


def post(plant: str, key: str) -> tuple[int, str, str]:
    """Makes one attempt. Returns status, Retry-After and body of the answer. Without an answer, the status is 0."""
    url = urllib.parse.urlsplit(os.environ["URL"])
    connect = http.client.HTTPConnection if url.scheme == "http" else http.client.HTTPSConnection
    connection = connect(url.netloc, timeout=20)  # seconds
    headers = {
        "Authorization": "Bearer " + os.environ["TOKEN"],
        "Content-Type": "application/json",
        "Idempotency-Key": key,
    }
    try:
        connection.request("POST", url.path.rstrip("/") + "/plants", plant.encode(), headers)
        answer = connection.getresponse()
        return answer.status, answer.headers.get("Retry-After", ""), answer.read().decode(errors="replace")
    except (OSError, http.client.HTTPException) as failure:
        return 0, "", f"no answer: {failure!r}"
    finally:
        connection.close()


def code_of(body: str) -> int:
    """Returns the code of an Error, 0 for a Plant, and -1 for what is not the service's."""
    try:
        answer = json.loads(body)
        return 0 if "name" in answer.keys() else int(answer["error"])
    except Exception:  # whatever a proxy may send
        return -1


def create(plant: str, key: str) -> tuple[int, str]:
    """Returns the exit status, and the last answer."""
    unknown = "IDEMPOTENCY_KEY" in os.environ  # whether an attempt, or an earlier run, may have created the plant
    wait = 1  # second
    for factor in 0, 1, 2, 4:
        time.sleep(factor * wait)
        status, retry_after, body = post(plant, key)
        wait = int(retry_after) if re.fullmatch("[0-9]{1,2}", retry_after) else 1
        code = code_of(body) if status in (200, 400) else -1
        if status == 200 and code == 0:
            return 0, body
        if code // 1000 in (1, 3):  # the service refuses this plant, so no earlier attempt created it
            return 1, body
        if not (code // 1000 == 2 or code == 5003 or status in (404, 413, 429, 431)):
            unknown = True
        if not (status in (0, 429) or status >= 500 or code >= 5002):
            break
    return 3 if unknown else 1, body


url, token = os.environ.get("URL", ""), os.environ.get("TOKEN", "")
key = os.environ.get("IDEMPOTENCY_KEY") or str(uuid.uuid4())
is_url = re.fullmatch(r"https?://(\[[0-9a-f:]+\]|[^/:\s]+)(:\d+)?/?", url)
if len(sys.argv) != 2 or not is_url or not token or not re.fullmatch("[!-~]+", token + key):
    print("usage: URL=http://HOST TOKEN=... python3 examples/create.py PLANT", file=sys.stderr)
    sys.exit(2)
sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may not have every character
status, body = create(sys.argv[1], key)
if status == 3:
    print(f"outcome unknown, with IDEMPOTENCY_KEY={key}", file=sys.stderr)
try:
    print(body, flush=True)
except OSError:  # the status says it too
    os._exit(status)
sys.exit(status)
