"""Rows of a benchmark: printed, and written to build/bench/NAME.json."""

import json
import os
import platform
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


class Table:
    def __init__(self):
        self.rows = []

    def row(self, case, metric, value, unit, aim=None, baseline=None, ratio=None):
        self.rows.append({"case": case, "metric": metric, "value": round(value, 3), "unit": unit,
                          "baseline": baseline, "ratio": ratio and round(ratio, 3),
                          "aim": aim and f"<= {aim}", "met": None if aim is None else value <= aim})

    def ratio(self, case, metric, value, unit, baseline, against, aim=None):
        """A row whose aim is of its ratio to something measured in the same run."""
        self.row(case, metric, value, unit, None, baseline, value / against)
        if aim is not None:
            self.rows[-1].update(aim=f"<= {aim} x", met=value / against <= aim)

    def at_least(self, case, metric, value, unit, baseline, ratio, aim=None):
        """A row with a ratio that was taken within each round, and is to be this large."""
        self.row(case, metric, value, unit, None, baseline, ratio)
        if aim is not None:
            self.rows[-1].update(aim=f">= {aim} x", met=ratio >= aim)

    def write(self, name, **more):
        """Prints the rows, and writes them with `more` about the run. Whether an aim is missed."""
        report = {
            "machine": {"cpu": next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo")
                                     if line.startswith("model name")), "unknown"),
                        "cores": os.cpu_count(), "system": platform.platform(),
                        "load": os.getloadavg()[0]},
            "commit": subprocess.run(
                ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], check=True, text=True,
                capture_output=True).stdout.strip(),
            **more, "rows": self.rows}
        path = ROOT / f"build/bench/{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(report, indent=1) + "\n")
        for r in self.rows:
            met = {True: "met", False: "MISSED", None: ""}[r["met"]]
            against = f"{r['ratio']} x {r['baseline']}" if r["ratio"] else ""
            print(f"{r['case']:16} {r['metric']:32} {r['value']:10.3f} {r['unit']:8} "
                  f"{r['aim'] or '':8} {met:7} {against}")
        return any(r["met"] is False for r in self.rows)
