"""use_schemathesis.py BASE_URL MODEL: KV_API_REQUESTS (500) random requests of what /openapi.json describes, valid ones
and others, from the seed KV_API_SEED (0). No answer has the status 500 or more."""

import collections
import concurrent.futures
import functools
import json
import multiprocessing
import os
import sys

import hypothesis
import requests
import schemathesis
from schemathesis import GenerationMode

BASE = sys.argv[1].removesuffix("/v1")
COUNT, SEED = (int(os.environ.get(f"KV_API_{name}", default)) for name, default in (("REQUESTS", 500), ("SEED", 0)))
POSTS = ["/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/embeddings"]
PROCESSES = 4  # hypothesis is not made for threads


def whole(value):
    """As clients write numbers: 1, not 1.0."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: whole(each) for name, each in value.items()}
    return [whole(each) for each in value] if isinstance(value, list) else value


@functools.cache
def description():
    return schemathesis.openapi.from_url(f"{BASE}/openapi.json")


def ask(path, method, mode, count, seed):
    """(statuses, answers of 500)"""
    operation = description()[path][method.upper()]
    statuses, failures = collections.Counter(), []

    @hypothesis.seed(seed)
    @hypothesis.settings(max_examples=count, deadline=None, database=None, phases=[hypothesis.Phase.generate],
                         suppress_health_check=list(hypothesis.HealthCheck))
    @hypothesis.given(operation.as_strategy(generation_mode=mode))
    def each(case):
        if isinstance(case.body, dict):
            case.body = {**whole(case.body), "model": None}
        try:
            answer = case.call(timeout=300)
        except requests.ConnectionError:  # one that was kept, and that the server has closed meanwhile
            answer = case.call(timeout=300)
        statuses[answer.status_code] += 1
        if answer.status_code >= 500:
            failures.append(f"{operation.path} {json.dumps(case.body, default=str)[:2000]}: {answer.text[:300]}")
    each()
    return statuses, failures


def main():
    others = {(path, method): bool({"parameters", "requestBody"} & operation.keys())
              for path, methods in description().raw_schema["paths"].items() if path not in POSTS
              for method, operation in methods.items()}
    jobs, share = [], -(-COUNT * 9 // 10 // (len(POSTS) * 2 * PROCESSES))
    for i in range(PROCESSES):
        jobs += [(path, "post", mode, share, SEED * PROCESSES + i) for path in POSTS
                 for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)]
    few = -(-COUNT // 10 // sum(others.values()))
    jobs += [(path, method, GenerationMode.POSITIVE, few if varies else 1, SEED)
             for (path, method), varies in others.items()]
    found, wrong = collections.defaultdict(collections.Counter), []
    with concurrent.futures.ProcessPoolExecutor(PROCESSES, multiprocessing.get_context("spawn")) as pool:
        for job, one in [(job, pool.submit(ask, *job)) for job in jobs]:
            statuses, failures = one.result()
            found[job[0], job[2]] += statuses
            wrong += failures
            print(f"{job[0]} {job[2].value} seed {job[4]}: {statuses.total()} requests, {len(failures)} of 500 and more",
                  flush=True)
    for (path, mode), statuses in sorted(found.items(), key=str):
        print(f"{path} {mode.value}: {dict(sorted(statuses.items()))}")
    print(f"schemathesis: {sum(map(collections.Counter.total, found.values()))} requests from seed {SEED}, "
          f"{len(wrong)} answers of 500 and more")
    print(*wrong[:5], sep="\n")
    poor = [path for path in POSTS if not found[path, GenerationMode.POSITIVE][200]]
    assert not poor, f"no request was valid of {poor}"
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
