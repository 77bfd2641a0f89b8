"""Builds from nothing, without ccache: how long, and which files take most of it.

Run by scripts/bench.sh build JOBS. CPU-seconds are those of the compilers and of all that they
start, as the system counts them; unlike the wall time they hardly depend on what else runs."""

import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

from table import Table

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build/bench/build"
LOG = ROOT / "build/bench/build.log"


def run(*command):
    """Seconds of the wall clock and of user and system time."""
    def cpu():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    wall, before = time.monotonic(), cpu()
    done = subprocess.run(list(map(str, command)), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stdout[-6000:]}")
    return time.monotonic() - wall, cpu() - before


def slowest():
    """Seconds of user and system time by output, the longest first."""
    seconds = {}
    for line in LOG.read_text().splitlines():
        user, system, output = line.split(" ", 2)
        seconds[output] = seconds.get(output, 0) + float(user) + float(system)
    return sorted(seconds.items(), key=lambda item: -item[1])


def main(jobs):
    os.environ["CCACHE_DISABLE"] = "1"
    shutil.rmtree(FOLDER, ignore_errors=True)
    LOG.parent.mkdir(parents=True, exist_ok=True)
    LOG.unlink(missing_ok=True)
    table = Table()
    spent = [run("cmake", "--preset", "release", "-B", FOLDER,
                 f"-DCMAKE_PROJECT_INCLUDE={ROOT}/benchmarks/launch.cmake",
                 f"-DKV_BUILD_LOG={LOG}")]
    for case, targets, minutes, cpu_minutes in (
            ("for demo.sh", ["--target", "demo"], 5, 9), ("everything", [], 15, None)):
        spent.append(run("cmake", "--build", FOLDER, "-j", jobs, *targets))
        wall, cpu = (sum(parts) / 60 for parts in zip(*spent))
        table.row(case, f"wall time, {jobs} jobs", wall, "minutes", minutes)
        table.row(case, "user and system time", cpu, "minutes", cpu_minutes)
    for i, (output, seconds) in enumerate(slowest()[:10]):
        table.row("everything", Path(output).name, seconds, "s", 25 if i == 0 else None)
    return table.write("build")


sys.exit(main(sys.argv[1]))
