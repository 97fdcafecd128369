#!/usr/bin/env python3
"""Creates a plant, and repeats the request until it is certain what became of
it, four times at most. Prints the Plant, or the Error and ends with 1.

    PLANTSTORE_URL=http://127.0.0.1:8080 PLANTSTORE_TOKEN=pst_... \\
        python3 examples/create.py '{"id":1,"name":"Monstera","tag":"indoor"}'
"""

import http.client
import os
import sys
import time
import urllib.error
import urllib.request
import uuid


def create(plant: str) -> tuple[int, str]:
    """Returns the status and the body of the answer, or 0 and what failed."""
    request = urllib.request.Request(
        os.environ["PLANTSTORE_URL"] + "/plants",
        data=plant.encode(),
        headers={
            "Authorization": "Bearer " + os.environ["PLANTSTORE_TOKEN"],
            "Content-Type": "application/json",
            "Idempotency-Key": str(uuid.uuid4()),  # of this plant: each attempt sends the same
        },
    )
    for wait in 1, 2, 4, 0:  # seconds
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as answer:
            status, body = answer.code, answer.read().decode()
            retry_after = answer.headers.get("Retry-After", "")
            if not retry_after and status != 429 and status < 500:
                break
        except (OSError, http.client.HTTPException) as failure:
            status, body, retry_after = 0, f"no answer: {failure!r}", ""
        if wait:
            time.sleep(int(retry_after) if retry_after.isdigit() else wait)
    return status, body


if len(sys.argv) != 2 or not os.environ.get("PLANTSTORE_URL") or not os.environ.get("PLANTSTORE_TOKEN"):
    sys.exit("usage: PLANTSTORE_URL=... PLANTSTORE_TOKEN=... python3 examples/create.py PLANT")
status, body = create(sys.argv[1])
print(body)
sys.exit(status != 200)
