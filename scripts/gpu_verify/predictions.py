"""What was predicted of the steps that are timed: predictions.json, which scripts/sass/predictions.py
writes. (In a copy of the repository, docs/performance/cuda.md has the same as a table.)"""

import json
import math
from pathlib import Path

PREFIX = "attention "  # of a timed row's name


def load():
    """{row of the suite timing: microseconds}"""
    path = Path(__file__).resolve().parent / "predictions.json"
    return {PREFIX + each["case"]: each["us"]
            for each in json.loads(path.read_text(encoding="utf-8"))}


def farthest(measured, count):
    """The rows of {row: microseconds} that are farthest from their predictions, farthest first."""
    known = load()
    distances = {row: abs(math.log(value / known[row]))
                 for row, value in measured.items() if row in known and value > 0}
    return sorted(distances, key=distances.get, reverse=True)[:count]
