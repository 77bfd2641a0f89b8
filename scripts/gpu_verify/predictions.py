"""What was predicted of the steps that are timed, on a 9.0: predictions.json, which
scripts/sass/predictions.py writes. (In a copy of the repository, docs/performance/cuda.md has the same
as a table.)"""

import json
import math
from pathlib import Path

PREFIX = "attention "  # of a timed row's name
PREDICTED = "9.0"  # compute capability


def load(machine):
    """{row of the suite timing: microseconds}; none for another machine than they are of."""
    if machine.get("compute_capability") != PREDICTED:
        return {}
    path = Path(__file__).resolve().parent / "predictions.json"
    return {PREFIX + each["case"]: each["us"]
            for each in json.loads(path.read_text(encoding="utf-8"))}


def farthest(machine, measured, count):
    """The rows of {row: microseconds} that are farthest from their predictions, farthest first."""
    known = load(machine)
    distances = {row: abs(math.log(value / known[row]))
                 for row, value in measured.items() if row in known and value > 0}
    return sorted(distances, key=distances.get, reverse=True)[:count]
