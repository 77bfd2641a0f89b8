"""Why a step takes another time than was predicted: Nsight Compute on the rows that are farthest off,
of which a handful of numbers is kept."""

import csv
import re
import shutil

from . import predictions, summary, worker
from .results import FAILED, LEFT, PASSED
from .suites import Row, Suite, program

ROWS = 3  # that are looked at
SKIPPED = 2  # launches that warm up
SECTIONS = ("SpeedOfLight", "SchedulerStats", "WarpStateStats", "MemoryWorkloadAnalysis", "LaunchStats")
# Metrics of ncu's raw page and what they are called here; which exist depends on its version.
KEPT = (("gpu__time_duration.sum", "time under the profiler"),
        ("sm__cycles_elapsed.max", "cycles"),
        ("sm__throughput.avg.pct_of_peak_sustained_elapsed", "SM"),
        ("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM"),
        ("lts__throughput.avg.pct_of_peak_sustained_elapsed", "L2 cache"),
        ("l1tex__throughput.avg.pct_of_peak_sustained_active", "L1 and shared memory"),
        ("lts__t_sector_hit_rate.pct", "hits of the L2 cache"),
        ("smsp__issue_active.avg.pct_of_peak_sustained_active", "issue slots used"),
        ("smsp__issue_active.avg.per_cycle_active", "instructions a cycle and scheduler"),
        ("smsp__warps_eligible.avg.per_cycle_active", "eligible warps a scheduler"),
        ("launch__registers_per_thread", "registers"),
        ("launch__occupancy_limit_shared_mem", "blocks by shared memory"))
STALL = re.compile(r"smsp__average_warps?_(?:latency_)?issue_stalled_(\w+?)(?:_per_issue_active)?\.ratio$")
NO_STALLS = ("selected", "_not_issued")
STALLS = 4  # reasons that are kept
REFUSED = re.compile(r"==ERROR== (.*)")


def kept(text):
    """[measurement] of the kernel that took longest, of what ncu wrote as CSV; empty: it has no
    table."""
    rows = list(csv.reader(line for line in text.splitlines() if line.startswith('"')))
    if len(rows) < 3:
        return []
    names, units = rows[0], rows[1]
    tables = [dict(zip(names, row)) for row in rows[2:]]
    units = dict(zip(names, units))

    def number(table, name):
        try:
            return float(table.get(name, "").replace(",", ""))
        except ValueError:
            return None

    table = max(tables, key=lambda each: number(each, KEPT[0][0]) or 0)
    found = [(said, units.get(name, ""), number(table, name)) for name, said in KEPT]
    stalls = [(f"stalled: {match.group(1).replace('_', ' ')}", "warps an issue", number(table, name))
              for name in names
              if (match := STALL.match(name)) and not match.group(1).endswith(NO_STALLS)]
    stalls = sorted((each for each in stalls if each[2]), key=lambda each: -each[2])[:STALLS]
    return [{"metric": metric, "unit": unit, "value": value, "baseline": "", "aim": None}
            for metric, unit, value in found + stalls if value is not None]


class Profiles(Suite):
    """A process a row: what ncu finds is there when it has ended."""

    def program(self):
        return shutil.which("ncu", path=self.visit.environment["PATH"])

    def rows(self):
        if self.program() is None:
            self.visit.say(f"{self.name} are left out: ncu is not installed")
            return []
        results = self.visit.results
        return [Row(row, 20) for row in predictions.farthest(
            summary.predicted(results), summary.times(results), ROWS)]

    def run(self, row, seconds):
        report = self.visit.scratch / "profile.csv"
        command = [self.program(), "--csv", "--page", "raw", "--log-file", report,
                   *(part for section in SECTIONS for part in ("--section", section)),
                   "--kernel-name", "regex:^kv_(attention|latent|merge)",
                   "--launch-skip", SKIPPED, "--launch-count", "2",
                   "--clock-control", "none",  # the machine's settings are not ours
                   *program(self.visit.folder, self.visit.options.small, "timing")]
        status, said, errors = worker.call(command, seconds, self.visit.environment, self.visit.log,
                                           self.visit.clock, given=row + "\n")
        text = report.read_text(errors="replace") if report.exists() else ""
        said += errors
        self.visit.log.write(said + text[-20000:])
        measurements = kept(text)
        if measurements:
            return {"status": PASSED, "message": "", "measurements": measurements}
        refused = REFUSED.search(text + said)
        if refused or status == 0:
            return {"status": LEFT, "message": refused.group(1) if refused else "ncu has no table"}
        return {"status": FAILED, "message": f"ncu ended with status {status}"}
