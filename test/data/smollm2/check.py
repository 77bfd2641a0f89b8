#!/usr/bin/env python3
"""Compares what kv-run computed for SmolLM2-135M-Instruct with the recorded reference.

    kv-run MODEL.so --weights W --requests teacher.jsonl --dump-logits DUMP ...
    check.py DUMP [--dtype bf16|f32]           the logits of every prompt position
    kv-run MODEL.so --weights W --requests greedy.jsonl > ANSWERS
    check.py --answers ANSWERS [--dtype ...]   the greedy continuations

Only numpy is needed. Exit code: 0 agreement, 1 disagreement, 2 not comparable."""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent

# What is accepted: largest and mean difference of a logit, and the margin between the two best
# logits above which the best one must be the same. README.md says what the reference itself
# does when only the order of its sums changes: bf16 is much looser, because a last-bit
# difference flips the rounding of a K or V element now and then.
LIMITS = {"f32": {"tolerance": 5e-4, "mean": 1e-4, "margin": 2e-3},
          "bf16": {"tolerance": 0.25, "mean": 0.016, "margin": 0.05}}

# A GPU rounds more to 16 bits than the reference, which multiplies f32 by bf16: the rows that
# are multiplied, the queries, and the weights of the values.
GPU_LIMITS = {"tolerance": 0.6, "mean": 0.08, "margin": 0.1}

# Weights as the file has them, with rows rounded to 8 bits before each product: what that costs a
# model of this size, far above what a defect in a block's arithmetic would hide behind.
QUANTISED_LIMITS = {"tolerance": 3.5, "mean": 0.25, "margin": 0.6}


def check_dump(path, reference, options):
    vocab, count = int(reference["vocab"]), int(reference["lengths"].sum())
    size = Path(path).stat().st_size
    if size != count * vocab * 4:
        print(f"{path}: {size} bytes; {count} positions of {vocab} f32 logits are "
              f"{count * vocab * 4}")
        return 2
    rows = np.memmap(path, dtype=np.float32, mode="r", shape=(count, vocab))
    if not np.isfinite(rows).all():
        bad = int(np.argmin(np.isfinite(rows).all(axis=1)))
        print(f"{path}: NaN or infinity at {place(bad, reference)}")
        return 1
    sample = np.abs(rows[:, reference["sample_ids"]] - reference["sample"])
    top = np.abs(np.take_along_axis(rows, reference["top_ids"].astype(np.int64), axis=1)
                 - reference["top"])
    worst = np.maximum(sample.max(axis=1), top.max(axis=1))
    wide = rows.astype(np.float64)
    peak = wide.max(axis=1)
    sums = np.abs(peak + np.log(np.exp(wide - peak[:, None]).sum(axis=1))
                  - reference["logsumexp"])
    clear = reference["margin"] > options.margin
    changed = (rows.argmax(axis=1) != reference["argmax"]) & clear
    at = int(worst.argmax())
    average = np.concatenate([sample, top], axis=1).mean()
    print(f"{options.dtype}: {count} positions, largest difference {worst.max():.3e} at "
          f"{place(at, reference)}, mean {average:.3e}, "
          f"logsumexp {sums.max():.3e}; argmax differs at {changed.sum()} of {clear.sum()} "
          f"positions with a margin above {options.margin:g}")
    for row in np.flatnonzero(changed)[:5]:
        print(f"  {place(row, reference)}: {rows[row].argmax()} instead of "
              f"{reference['argmax'][row]}, margin {reference['margin'][row]:.3e}")
    return int(not (worst.max() <= options.tolerance and sums.max() <= options.tolerance
                    and average <= options.mean and not changed.any()))


def place(row, reference):
    """'prompt 3, position 17' of a row of the dump."""
    ends = np.cumsum(reference["lengths"])
    prompt = int(np.searchsorted(ends, row, side="right"))
    return f"prompt {prompt}, position {row - (ends[prompt - 1] if prompt else 0)}"


def check_answers(path, reference, options):
    tokens = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            answer = json.loads(line)
            if "error" in answer:
                print(f"{path}: {answer['error']}")
                return 1
            if "token" in answer:
                tokens.setdefault(answer["id"], []).append(answer["token"])
            elif "tokens" in answer:  # --no-stream
                tokens[answer["id"]] = answer["tokens"]
    status = 0
    with open(HERE / "greedy.jsonl", encoding="utf-8") as file:
        names = [json.loads(line)["id"] for line in file]
    for name, wanted, margins in zip(names, reference["greedy"].tolist(),
                                     reference["greedy_margin"]):
        got = tokens.get(name, [])
        equal = 0
        while equal < min(len(got), len(wanted)) and got[equal] == wanted[equal]:
            equal += 1
        line = f"{options.dtype}: {name}: {equal} of {len(wanted)} tokens agree"
        if equal < len(wanted):
            # After a near tie the two texts have nothing to do with each other.
            tie = equal < len(got) and margins[equal] <= options.margin
            line += f"; the reference's margin there is {margins[equal]:.3e}"
            status = status if tie else 1
        elif len(got) > len(wanted):
            line += f", but {len(got)} were generated"
            status = 1
        print(line)
    return status


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dump", nargs="?")
    parser.add_argument("--answers", metavar="FILE")
    parser.add_argument("--dtype", choices=("bf16", "f32"), default="bf16")
    parser.add_argument("--gpu", action="store_true", help="computed by an artifact for a GPU")
    parser.add_argument("--quantised", action="store_true",
                        help="computed with quantised weights and rows of 8 bits")
    for name, what in (("tolerance", "largest difference of a logit"),
                       ("mean", "mean difference of a logit"),
                       ("margin", "the argmax must agree above this margin")):
        defaults = ", ".join(f"{dtype} {limits[name]:g}" for dtype, limits in LIMITS.items())
        parser.add_argument(f"--{name}", type=float, help=f"{what} (default: {defaults})")
    options = parser.parse_args()
    if (options.dump is None) == (options.answers is None):
        parser.error("give either DUMP or --answers FILE")
    limits = (GPU_LIMITS if options.gpu else QUANTISED_LIMITS if options.quantised
              else LIMITS[options.dtype])
    for name, limit in limits.items():
        if getattr(options, name) is None:
            setattr(options, name, limit)
    reference = np.load(HERE / f"reference-{options.dtype}.npz")
    try:
        if options.dump:
            return check_dump(options.dump, reference, options)
        return check_answers(options.answers, reference, options)
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
