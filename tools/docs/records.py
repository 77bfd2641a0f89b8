"""Tables of the records in benchmarks/results/, whose rows have the fields that benchmarks/table.py writes."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UNITS = {"us": "µs", "10^9 instr": "10⁹ instructions", "x mean": "× the mean", "/page": "instructions per page",
         "/step": "instructions per step"}


def record(name):
    return json.loads((ROOT / f"benchmarks/results/{name}.json").read_text(encoding="utf-8"))


def number(value):
    """Three digits, and all of those before the point."""
    if abs(value) >= 1000:
        return f"{value:,.0f}".replace(",", "\u00a0")
    text = f"{value:.3g}"
    return f"{value:.0f}" if "e" in text and abs(value) >= 1 else text


def cell(row, unit, baseline, again=False):
    """The row's value and ratio, and whether its aim is met. `unit` and `baseline` are those that the caption names;
    again: without the value, which stands before."""
    own = UNITS.get(row["unit"], row["unit"])
    text = "" if again else number(row["value"]) + (f" {own}" if own and own != unit else "")
    if row["ratio"] is not None:
        text += f"{', ' if text else ''}{number(row['ratio'])}\u00a0×"
        if row["baseline"] != baseline:
            text += f" {row['baseline']}"
    if row["aim"]:
        aim = row["aim"].replace(">=", "≥").replace("<=", "≤").replace(" x", " ×")
        text += f", {'met' if row['met'] else '**missed**'} ({aim})".replace("≥ ", "≥\u00a0").replace("≤ ", "≤\u00a0")
    return text


def only(values):
    """The value that all have, if they have one."""
    found = set(values)
    return found.pop() if len(found) == 1 else None


def common(rows):
    """(unit, baseline), each None where rows differ."""
    rows = list(rows)
    return (only(UNITS.get(row["unit"], row["unit"]) for row in rows),
            only(row["baseline"] for row in rows if row["ratio"] is not None))


def said(unit, baseline):
    parts = [unit or "", f"× {baseline}" if baseline else ""]
    return f" ({'; '.join(filter(None, parts))})" if any(parts) else ""


def machine(name):
    """The sentence that says where a record comes from."""
    whole = record(name)
    known = whole.get("machine", {})
    parts = [f"{known['cpu'].replace('(R)', '')}, {known['cores']} cores" if known else "",
             f"commit `{whole['commit']}`" if "commit" in whole else "",
             f"load {known['load']:.1f} at the end" if "load" in known else "", whole.get("note", ""),
             *(f"{whole[one]} {one}" for one in ("rounds", "runs") if whole.get(one, 0) > 1),
             *(f"`{one}`" for one in whole.get("peers", ()) if not one.startswith(("numpy", "matplotlib")))]
    return f"Record `benchmarks/results/{name}.json`: {', '.join(filter(None, parts))}.\n"


def chosen(rows, match):
    """(label of the row, label of the column, row) of each row whose "case; metric" the pattern matches whole. The
    groups r, r1 and so on make the first label, c, c1 and so on the second. A row is shown once."""
    pattern = re.compile(match)
    for row in rows:
        if found := pattern.fullmatch(f"{row['case']}; {row['metric']}"):
            labels = [", ".join(part.strip() for name, part in sorted(found.groupdict().items())
                                if part and name.startswith(kind)) for kind in "rc"]
            labels = [re.sub(r"\b\d{5,}\b", lambda digits: number(int(digits[0])), label) for label in labels]
            yield *labels, row


def table(name, match=r"(?P<r1>.*); (?P<r2>.*)", head="", ratio="", source=""):
    """A table with a row and a column for each label, of the record NAME. head: of the first column. ratio=only:
    without the rows that are compared with nothing. source=below: another table of the record says where it is from."""
    picked = [(row, column, one) for row, column, one in chosen(record(name)["rows"], match)
              if not ratio or one["ratio"] is not None]
    if not picked:
        raise ValueError(f"no row of {name}.json matches {match}")
    columns = list(dict.fromkeys(column for _, column, _ in picked))
    whole, lines = common(one for _, _, one in picked), []
    for row in dict.fromkeys(row for row, _, _ in picked):
        mine = [(column, one) for at, column, one in picked if at == row]
        unit, baseline = common(one for _, one in mine)
        cells = []
        for column in columns:
            here = [one for at, one in mine if at == column]
            cells.append(", ".join(cell(one, unit, baseline, i > 0 and one["value"] == here[i - 1]["value"])
                                   for i, one in enumerate(here)))
        lines.append([row + said("" if whole[0] else unit, "" if whole[1] else baseline), *cells])
    lines = [[head + said(*whole), *(column or "value" for column in columns)], ["---"] * (1 + len(columns)), *lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) + (
        "" if source else "\n" + machine(name))
