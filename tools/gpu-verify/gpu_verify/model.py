"""Whole models on the GPU: prompts against the CPU's logits; steps as graphs against calls of the
entry; and decoding against the model's own prompts, which needs no tolerance where all products
are deterministic."""

import array
import json

from . import suites, worker
from .results import FAILED, PASSED

# Largest difference relative to the largest logit: activations are bf16 on a GPU and f32 on a CPU.
LIMIT = 4e-2


def floats(path):
    values = array.array("f")
    values.frombytes(path.read_bytes())
    return values


def answers(path):
    """({id: tokens}, statistics) of kv-run's lines."""
    *lines, last = [json.loads(line) for line in path.read_text().splitlines()]
    return {line["id"]: line["tokens"] for line in lines}, last["statistics"]


def decode_time(metric, statistics):
    """A measurement: of one token of one request, with its part of the step."""
    seconds = statistics["decode_seconds"] / max(1, statistics["decode_tokens"])
    return {"metric": metric, "unit": "us", "value": seconds * 1e6, "baseline": "", "aim": None}


def difference(expected, got):
    """The largest difference relative to the largest expected value, or why there is none."""
    if len(expected) != len(got) or not expected:
        return f"there are {len(got)} logits, expected {len(expected)}"
    largest = max(map(abs, expected))
    worst = 0.0
    for a, b in zip(expected, got):
        if not abs(a - b) <= LIMIT * largest:  # or NaN
            return f"a logit is {b}, expected {a} +- {LIMIT * largest:.3g}"
        worst = max(worst, abs(a - b))
    return worst / largest


def misses(requests, generated, logits, vocabulary):
    """Generated tokens that are not the largest logit where the same tokens are a prompt."""
    row, wrong, count = 0, 0, 0
    for request in requests:
        prompt, more = len(request["tokens"]), generated[request["id"]]
        for i, token in enumerate(more):
            at = (row + prompt - 1 + i) * vocabulary
            values = logits[at:at + vocabulary]
            wrong += values.index(max(values)) != token
            count += 1
        row += prompt + len(more)
    return wrong, count


class Models(suites.Suite):
    def models(self):
        return sorted(path for path in (self.visit.folder / "model").glob("*") if path.is_dir())

    def rows(self):
        return [suites.Row(path.name, 8) for path in self.models()]

    def serve(self, model, requests, end, *more):
        """(tokens, logits, statistics) of kv-run on the device, before the clock says `end`."""
        folder = self.visit.scratch
        (folder / "requests.jsonl").write_text("".join(json.dumps(r) + "\n" for r in requests))
        command = [self.visit.folder / "bin/kv-run", model / "gpu.so", "--device", "cuda:0",
                   "--weights", model / "weights.safetensors", "--requests",
                   folder / "requests.jsonl", "--no-stream", "--deterministic", "--pages", "600",
                   "--threads", "1", "--no-prefix-cache", "--dump-logits", folder / "logits.f32", *more]
        visit = self.visit
        with open(folder / "answers.jsonl", "w") as out:
            status, _, said = worker.call(
                command, max(end - visit.clock.now(), 1),
                suites.with_libraries(visit.environment, visit.folder), visit.log, visit.clock,
                output=out)
        visit.log.write(said)
        if status:
            last = (said.strip().splitlines() or ["nothing was said"])[-1]
            raise worker.Died(f"kv-run ended with status {status}: {last}")
        tokens, statistics = answers(folder / "answers.jsonl")
        return tokens, floats(folder / "logits.f32"), statistics

    def run(self, row, seconds):
        model = self.visit.folder / "model" / row
        requests = [json.loads(line) for line in
                    (model / "requests.jsonl").read_text().splitlines()]
        expected = floats(model / "logits.f32")
        vocabulary = len(expected) // sum(len(request["tokens"]) for request in requests)
        end = self.visit.clock.now() + seconds
        generated, logits, statistics = self.serve(model, requests, end)
        worst = difference(expected, logits)
        if isinstance(worst, str):
            return {"status": FAILED, "message": worst}
        called, others, slower = self.serve(model, requests, end, "--no-graphs")
        if called != generated or others != logits:
            return {"status": FAILED, "message": "steps as graphs and as calls give other tokens or "
                                                 "logits"}
        # What was generated as part of the prompt; the last token has no successor.
        whole = [{**request, "tokens": request["tokens"] + generated[request["id"]],
                  "max_new_tokens": 1} for request in requests]
        _, again, _ = self.serve(model, whole, end)
        wrong, count = misses(requests, generated, again, vocabulary)
        if wrong:
            return {"status": FAILED,
                    "message": f"{wrong} of {count} tokens are others when they are decoded than "
                               "the largest logit of the same prompt"}
        cpu, _ = answers(model / "answers.jsonl")
        same = sum(generated[name] == cpu[name] for name in cpu)
        return {"status": PASSED, "message": f"logits differ by {worst:.2g} of the largest; "
                                             f"{same} of {len(cpu)} requests have the CPU's tokens",
                # What no other suite launches; every layer of a Llama does.
                "kernels": ["kv_rope_store"],
                "measurements": [decode_time("a decoded token", statistics),
                                 decode_time("a decoded token without graphs", slower)]}

    def close(self):
        return None
