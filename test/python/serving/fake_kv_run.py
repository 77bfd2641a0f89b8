#!/usr/bin/env python3
"""A kv-run that answers each request with given tokens: FAKE_TOKENS is a JSON list of lists,
request i gets entry i (the last one for all further). Requests are logged to FAKE_LOG. With
FAKE_ERROR, request 1 fails; with FAKE_DIES, the process ends after one token."""

import json
import os
import sys

answers = json.loads(os.environ.get("FAKE_TOKENS", "[[1, 2, 3]]"))


def say(**line):
    print(json.dumps(line), flush=True)


with open(os.environ["FAKE_LOG"], "w", encoding="utf-8") as log:
    log.write(json.dumps(sys.argv[1:]) + "\n")
    status, requests = 0, []
    for number, line in enumerate(sys.stdin):
        log.write(line)
        log.flush()
        request = json.loads(line)
        if "FAKE_ERROR" in os.environ and number == 1:
            say(id=request["id"], error=f"request {request['id']}: 9000 prompt tokens")
            status = 1
            continue
        tokens = answers[min(number, len(answers) - 1)]
        for index, token in enumerate(tokens):
            say(id=request["id"], index=index, token=token)
            if "FAKE_DIES" in os.environ:
                sys.exit(3)
        say(id=request["id"], finish_reason="stop", prompt_tokens=len(request["tokens"]),
            cached_tokens=0, new_tokens=len(tokens))
        requests.append(request)
say(statistics={"requests": len(requests), "steps": 7})
sys.exit(status)
