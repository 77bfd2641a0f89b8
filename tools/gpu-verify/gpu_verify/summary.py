"""One table for people, and one for benchmarks/results."""

import json

from . import predictions
from .results import FAILED, LEFT, PASSED


def better(measurements, others):
    """The measurements of the quicker of two runs."""
    def time(rows):
        return next((row["value"] for row in rows if row["metric"] == "time"), None)

    if not others or not time(others) or (time(measurements) or 0) <= time(others):
        return measurements
    return others


def measured(results, build="a"):
    """(record, measurement) of all rows that measured something."""
    for (of, _, _), record in results.rows.items():
        if of == build and record["status"] == PASSED:
            for measurement in record["measurements"]:
                yield record, measurement


def ceilings(results):
    """By the name that a baseline has."""
    return {record["row"]: m["value"] for record, m in measured(results)
            if record["suite"] == "ceilings" and m["metric"] != "clock"}


def times(results):
    """{row of the suite timing: microseconds}"""
    return {record["row"]: m["value"] for record, m in measured(results)
            if record["suite"] == "timing" and m["metric"] == "time"}


def predicted(results):
    """{row of the suite timing: microseconds}, of this machine: its read ceiling, and the clock of
    the row, else that of the multiply ceiling."""
    machine = results.machine()
    clocks = {(record["suite"], record["row"]): m["value"] for record, m in measured(results)
              if m["metric"] == "clock" and m["value"]}
    read = ceilings(results).get("read ceiling")

    def of_row(row):
        clock = clocks.get(("timing", row)) or clocks.get(("ceilings", "multiply ceiling"))
        return predictions.Measured(read and read / 1000, clock and clock / 1000,
                                    machine.get("multiprocessors"))

    return predictions.load(machine.get("compute_capability"), of_row)


def ratios(results):
    """[{case, metric, value, unit, baseline, ratio, aim, met, predicted}], as in benchmarks/results;
    predicted: in the unit of the value, where it was."""
    known = ceilings(results)
    known_times = predicted(results)
    mine = {row.removeprefix(predictions.PREFIX): value for row, value in times(results).items()}
    theirs = {(record["row"], m["metric"]): m["value"] for record, m in measured(results, "b")}
    table = []
    for record, m in measured(results):
        baseline, ratio = m["baseline"] or None, None
        if baseline in known and known[baseline]:
            # GB/s of GB/s, TFLOP/s of TFLOP/s.
            ratio = m["value"] / known[baseline]
        peer, _, case = record["row"].partition(": ")
        if record["suite"] == "peers" and mine.get(case):
            baseline, ratio = "speed of this project", mine[case] / m["value"]
        met = None if ratio is None or m["aim"] is None else ratio >= m["aim"]
        table.append({"case": record["row"], "metric": m["metric"], "value": m["value"],
                      "unit": m["unit"], "baseline": baseline, "ratio": ratio, "aim": m["aim"],
                      "met": met, "predicted": known_times.get(record["row"])
                      if record["suite"] == "timing" and m["metric"] == "time" else None})
        other = theirs.get((record["row"], m["metric"]))
        if other and m["metric"] == "time":
            table.append({"case": record["row"], "metric": "time of the other build",
                          "value": other, "unit": m["unit"], "baseline": "time of this build",
                          "ratio": other / m["value"], "aim": None, "met": None,
                          "predicted": None})
    return table


def kernels(results):
    """{kernel: the rows that launched it, and how many of them failed}"""
    seen = {name: [0, 0] for name in results.machine().get("kernels", [])}
    for (build, _, _), record in results.rows.items():
        for name in record.get("kernels", []):
            if build == "a" and name in seen:
                seen[name][0] += 1
                seen[name][1] += record["status"] == FAILED
    return seen


def short(message, most=300):
    """One line of it."""
    line = " ".join(message.split())
    return line if len(line) <= most else line[:most] + " ..."


def verdict(results):
    """What has run and what failed, in few lines: only so many characters come back of a command."""
    lines = []
    by_suite = {}
    for (build, suite, _), record in results.rows.items():
        if build == "a":
            counts = by_suite.setdefault(suite, {PASSED: 0, FAILED: 0, LEFT: 0, "seconds": 0})
            counts[record["status"]] += 1
            counts["seconds"] += record["seconds"]
    for suite, counts in by_suite.items():
        lines.append(f"{suite:24} {counts[PASSED]:4} passed {counts[FAILED]:3} failed "
                     f"{counts[LEFT]:3} left {counts['seconds']:8.1f} s")
    for record in results.failed():
        lines.append(f"FAILED {record['suite']}: {record['row']}: {short(record['message'])}")
    notes = {}
    for record in results.rows.values():
        if record["status"] != FAILED and record["message"]:
            notes.setdefault((record["suite"], record["message"]), []).append(record["row"])
    for (suite, message), rows in notes.items():
        lines.append(f"note {suite}: {rows[0] if len(rows) == 1 else f'{len(rows)} rows'}: {short(message)}")
    seen = kernels(results)
    for name, (rows, failed) in seen.items():
        if failed:
            lines.append(f"kernel {name}: FAILED in {failed} of {rows} rows")
    if names := unseen(results):
        lines.append(f"{len(names)} kernels have not run yet: {short(', '.join(names))}")
    left = {}
    for sentence in results.machine().get("left_out", []):
        name, _, why = sentence.partition(": ")
        left.setdefault(why, []).append(name)
    for why, names in left.items():
        lines.append(f"left out, {why}: {short(', '.join(names))}")
    right = sum(1 for rows, failed in seen.values() if rows and not failed)
    lines.append(f"{right} of {len(seen)} kernels ran, and rightly")
    lines.append("all right so far" if not results.failed() else
                 f"{len(results.failed())} rows FAILED")
    return "\n".join(lines) + "\n"


def unseen(results):
    """The kernels that have not run yet."""
    return [name for name, (rows, _) in kernels(results).items() if not rows]


def text(results):
    lines = [verdict(results)]
    if unseen(results):
        lines.append(f"not run yet: {', '.join(unseen(results))}")
    for row in ratios(results):
        if row["metric"] in ("least", "most", "clock"):
            continue
        more = f", {row['ratio']:.3g} of the {row['baseline']}" if row["ratio"] else ""
        if row["predicted"]:
            more += (f", predicted {row['predicted']:.4g} {row['unit']}: "
                     f"{row['value'] / row['predicted']:.2f} of it")
        if row["met"] is not None:
            more += f", aim {row['aim']:g} {'met' if row['met'] else 'MISSED'}"
        lines.append(f"{row['case']:56} {row['value']:10.4g} {row['unit']:8} {row['metric']}{more}")
    return "\n".join(lines) + "\n"


def record(results):
    """The file for benchmarks/results: which machine, which commit, what was found."""
    last = results.machine()
    commits = sorted({fact["commit"] for fact in results.facts if "visit" in fact})
    return json.dumps({
        "machine": {key: last[key] for key in last if key not in ("commit", "kernels")},
        "commit": commits[0] if len(commits) == 1 else commits,
        "clocks": [fact for fact in results.facts if "clocks" in fact],
        "passed": not results.failed(),
        "kernels": {name: {"rows": rows, "failed": failed}
                    for name, (rows, failed) in kernels(results).items()},
        "checks": [{key: row[key] for key in ("suite", "row", "status", "message", "seconds")}
                   for row in results.rows.values() if row["build"] == "a"],
        "rows": ratios(results)}, indent=1) + "\n"
