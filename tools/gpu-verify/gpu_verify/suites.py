"""What a visit runs, in its order."""

import os
import re
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

from . import predictions, worker
from .results import FAILED, LEFT, PASSED

# Suites whose rows are right or wrong.
CORRECTNESS = ("instructions", "probes", "movers", "attention", "long", "tiles", "bytes", "bits",
               "products", "model", "pairs", "cases")
# First what decides a design, then what a kernel family does and how fast, beside what others do;
# then the same of all that is left, and the slow searches. A suite that is there twice runs its first
# rows, and later all others.
FIRST = ("instructions", "probes", "ceilings", "long first", "timing first", "peers")
ORDER = (*FIRST, "tiles", "bytes", "movers", "model", "long", "attention", "bits", "products", "timing",
         "profiles", "pairs")
TOOLS = ("racecheck", "memcheck", "synccheck", "initcheck")
SANITIZED = ("long", "attention", "tiles", "bytes", "movers", "instructions", "bits")
SLOWDOWN = 10  # of a row under compute-sanitizer; a guess until it has run

# Of compute-sanitizer's lines those that are no detail, title or sum.
REPORT = re.compile(r"========= (?!\s|COMPUTE-SANITIZER|\w+ SUMMARY|$)")
UNSUPPORTED = "Device not supported"  # some machines with a GPU do not let the tools near it


class Row(NamedTuple):
    name: str
    seconds: float  # that are planned
    first: bool = False  # among the first rows of its suite


def outcome(answer):
    """The record's part of an answer of bin/gpu-verify."""
    if "left" in answer:
        return {"status": LEFT, "message": answer["left"]}
    result = answer.get("result", answer)
    return {"status": PASSED if result["passed"] else FAILED, "message": result["message"],
            "measurements": result["measurements"], "kernels": answer.get("kernels", [])}


def program(folder, small, suites, *more):
    """The command that answers to the rows of one suite, or lists those of several."""
    return [folder / "bin/gpu-verify", folder / "lib", f"--suite={suites}",
            *(["--small"] if small else []), *more]


def listed(visit, folder, small):
    """(facts of the machine, {suite: [Row]} of all that bin/gpu-verify has); one process says both."""
    peers = (f"--peer={peer}" for peer in visit.libraries())
    facts, *said = worker.lines([*program(folder, small, "all", "--list"), *peers],
                                visit.environment, visit.log, visit.clock)
    rows = {}
    for line in said:
        rows.setdefault(line["suite"], []).append(
            Row(line["row"], line["seconds"], line["first"]))
    return facts, rows


class Suite:
    """Rows of one kind of process; started when the first row is asked for. `first`: those that come
    first."""

    ready = 20  # seconds in which the process has the device

    def __init__(self, visit, name, build="a", first=False):
        self.visit, self.name, self.build, self.first = visit, name, build, first
        self.process = None

    def folder(self):
        return self.visit.folder if self.build == "a" else self.visit.folder / self.build

    def command(self):
        # Images with a watchdog are slower.
        watched = ["--watchdog"] if self.name in CORRECTNESS else []
        return [*program(self.folder(), self.visit.options.small, self.name), *watched,
                *(f"--peer={peer}" for peer in self.visit.libraries()),
                *(f"--without={kernel}" for kernel in self.visit.hung_kernels(self.build))]

    def all_rows(self):
        return self.visit.listed(self.folder(), self.visit.options.small)[1].get(self.name, [])

    def rows(self):
        """[Row]"""
        rows = self.all_rows()
        if not self.first:
            return rows
        chosen = predictions.first() if self.name == "timing" else ()
        return [row for row in rows if row.first or row.name in chosen]

    def run(self, row, seconds):
        """The record of a row; Died or Hung."""
        fresh = self.process is None
        if fresh:
            self.process = worker.Worker(self.command(), self.visit.environment, self.visit.log,
                                         self.visit.clock)
        try:
            if fresh:
                self.process.start(self.ready)
            return outcome(self.process.ask(row, seconds))
        except (worker.Died, worker.Hung):
            self.process = None
            raise

    def close(self):
        if self.process is not None:
            self.process.close()
            self.process = None
        return None


class Sanitized(Suite):
    """Another suite's small rows under a tool of compute-sanitizer. What it reports is in a file
    that grows; what it says only when the process ends is a row of its own."""

    def __init__(self, visit, tool, suite):
        super().__init__(visit, suite)
        self.tool, self.inner, self.name = tool, suite, f"{tool} {suite}"
        self.report = visit.scratch / f"{tool}-{suite}.txt"
        self.read = 0
        self.refused = None  # the tool's own words

    def command(self):
        return [self.program(), "--tool", self.tool, "--print-limit", "5", "--log-file",
                self.report, *program(self.visit.folder, True, self.inner)]

    def program(self):
        return shutil.which("compute-sanitizer", path=self.visit.environment["PATH"])

    def rows(self):
        if self.program() is None:
            self.visit.say(f"{self.name} is left out: compute-sanitizer is not installed")
            return []
        _, listed_rows = self.visit.listed(self.visit.folder, True)
        # Gigabytes of shadow memory for one that is about addresses.
        return [Row(row.name, row.seconds * SLOWDOWN) for row in listed_rows.get(self.inner, [])
                if "TwoToThe31" not in row.name]

    def run(self, row, seconds):
        if self.refused:
            return {"status": LEFT, "message": self.refused}
        try:
            record = super().run(row, seconds)
        except (worker.Hung, worker.Died) as problem:
            # Without a report it is the tool that does not get on with the machine.
            record = {"status": LEFT, "message": f"under {self.tool}, {problem}"}
        problems = self.reported()
        if problems and UNSUPPORTED in problems[0]:
            self.refused = problems[0]
            return {"status": LEFT, "message": self.refused}
        if problems:
            record.update(status=FAILED, message=problems[0])
        return record

    def reported(self):
        """What the tool has reported since the last call."""
        if not self.report.exists():
            return []
        with open(self.report, encoding="utf-8", errors="replace") as file:
            file.seek(self.read)
            text = file.read()
            self.read = file.tell()
        self.visit.log.write(text)
        return [line[10:] for line in text.splitlines() if REPORT.match(line)]

    def close(self):
        super().close()
        problems = self.reported()
        if problems:
            return {"status": FAILED, "message": problems[0]}
        return None


class Peers(Suite):
    """PyTorch's attentions on the shapes that were timed."""

    ready = 60  # PyTorch is large

    def command(self):
        return [sys.executable, self.visit.folder / "gpu-verify-peers.py", "--rows",
                self.visit.results.folders[0] / "rows.jsonl",
                *(f"--peer={name}" for name in self.visit.options.peer if "=" not in name)]

    def rows(self):
        try:
            lines = worker.lines([*self.command(), "--list"], self.visit.environment,
                                 self.visit.log, self.visit.clock)
        except worker.Died as problem:
            self.visit.say(f"PyTorch's attentions are left out: {problem}")
            return []
        return [Row(line["row"], line["seconds"]) for line in lines]


def environment():
    """Of all processes: what they need lies where wheels put it."""
    found = dict(os.environ)
    found["PATH"] = found.get("PATH", "") + ":/usr/local/cuda/bin"
    paths = [found["LD_LIBRARY_PATH"]] if found.get("LD_LIBRARY_PATH") else []
    # Last, so that a toolkit's comes first.
    for path in filter(None, sys.path):
        paths += sorted({str(library.parent)
                         for library in Path(path).glob("nvidia/*/lib/libcublasLt.so.*")})
    if paths:
        found["LD_LIBRARY_PATH"] = ":".join(paths)
    return found


def with_libraries(found, folder):
    """And of kv-run, which needs those that lie beside it. Others have their own: PyTorch is newer
    than the folder's libstdc++."""
    paths = [str(folder / "lib"), found.get("LD_LIBRARY_PATH")]
    return {**found, "LD_LIBRARY_PATH": ":".join(filter(None, paths))}
