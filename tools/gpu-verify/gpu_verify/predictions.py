"""What was predicted of the steps that are timed, on a 9.0: predictions.json, which
tools/sass/predictions.py writes. The page measurements/cuda of the site
has the same as a table.

The prediction is of one machine, and what is timed runs on another: reading is scaled by the read
ceiling that was measured, and what SMs do by their clock and number."""

import json
import math
from pathlib import Path
from typing import NamedTuple

PREFIX = "attention "  # of a timed row's name
PREDICTED = "9.0"  # compute capability


class Measured(NamedTuple):
    """A machine; None: as it was predicted."""
    terabytes: float | None = None  # read in a second
    gigahertz: float | None = None
    sms: int | None = None


def read():
    """{"machine", "rows"} of predictions.json."""
    path = Path(__file__).resolve().parent / "predictions.json"
    return json.loads(path.read_text(encoding="utf-8"))


def first():
    """The rows of the suite timing that come first, on every chip."""
    return {PREFIX + row["case"] for row in read()["rows"] if row["first"]}


def scaled(row, assumed, measured):
    """Microseconds of a row on a machine: the launch, what comes before and after the leaves, and the
    longer one of multiplying them and of reading them."""
    reading = assumed["terabytes"] / (measured.terabytes or assumed["terabytes"])
    clock = assumed["gigahertz"] / (measured.gigahertz or assumed["gigahertz"])
    work = clock * assumed["sms"] / (measured.sms or assumed["sms"])
    parts = row["parts"]
    bound = parts["read"] * reading + parts["uneven"] * work
    return parts["launch"] + parts["around"] * clock + max(parts["leaves"] * work, bound)


def load(capability, measured):
    """{row of the suite timing: microseconds}; none for another chip than they are of. `measured`
    gives what is known of the machine while a row ran."""
    if capability != PREDICTED:
        return {}
    known = read()
    return {PREFIX + row["case"]: scaled(row, known["machine"], measured(PREFIX + row["case"]))
            for row in known["rows"]}


def farthest(known, measured, count):
    """The rows of {row: microseconds} that are farthest from what is `known`, farthest first."""
    distances = {row: abs(math.log(value / known[row]))
                 for row, value in measured.items() if row in known and value > 0}
    return sorted(distances, key=distances.get, reverse=True)[:count]
