"""What a visit runs, in its order."""

import os
import re
import shutil
import sys
from pathlib import Path

from . import worker
from .results import FAILED, LEFT, PASSED

# First what says most about all kernels for its seconds; what is measured after it is right;
# then the slow searches.
CORRECTNESS = ("instructions", "movers", "attention", "long", "tiles", "bytes", "bits", "products",
               "model", "probes", "pairs")
TIMING = ("ceilings", "timing", "peers", "profiles")
TOOLS = ("racecheck", "memcheck", "synccheck", "initcheck")
SANITIZED = ("long", "attention", "tiles", "bytes", "movers", "instructions", "bits")
SLOWDOWN = 10  # of a row under compute-sanitizer; a guess until it has run

# Of compute-sanitizer's lines those that are no detail, title or sum.
REPORT = re.compile(r"========= (?!\s|COMPUTE-SANITIZER|\w+ SUMMARY|$)")
UNSUPPORTED = "Device not supported"  # some machines with a GPU do not let the tools near it


def outcome(answer):
    """The record's part of an answer of bin/gpu-verify."""
    result = answer.get("result", answer)
    return {"status": PASSED if result["passed"] else FAILED, "message": result["message"],
            "measurements": result["measurements"], "kernels": answer.get("kernels", [])}


class Suite:
    """Rows of one kind of process; started when the first row is asked for."""

    def __init__(self, visit, name, build="a"):
        self.visit, self.name, self.build = visit, name, build
        self.process = None

    def command(self):
        folder = self.visit.folder if self.build == "a" else self.visit.folder / self.build
        small = ["--small"] if self.visit.options.small else []
        return [folder / "bin/gpu-verify", folder / "lib", f"--suite={self.name}", *small,
                *(f"--peer={peer}" for peer in self.visit.options.peer)]

    def rows(self):
        """[(row, seconds)]"""
        return [(line["row"], line["seconds"]) for line in
                worker.lines([*self.command(), "--list"], self.visit.environment, self.visit.log)]

    def run(self, row, seconds):
        """The record of a row; Died or Hung."""
        if self.process is None:
            self.process = worker.Worker(self.command(), self.visit.environment, self.visit.log)
        try:
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
                self.report, *self.plain()]

    def plain(self):
        """The process without the tool."""
        folder = self.visit.folder
        return [folder / "bin/gpu-verify", folder / "lib", f"--suite={self.inner}", "--small"]

    def program(self):
        return shutil.which("compute-sanitizer", path=self.visit.environment["PATH"])

    def rows(self):
        if self.program() is None:
            self.visit.say(f"{self.name} is left out: compute-sanitizer is not installed")
            return []
        listed = worker.lines([*self.plain(), "--list"], self.visit.environment, self.visit.log)
        # Gigabytes of shadow memory for one that is about addresses.
        return [(line["row"], line["seconds"] * SLOWDOWN) for line in listed
                if "TwoToThe31" not in line["row"]]

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

    def command(self):
        return [sys.executable, self.visit.folder / "gpu-verify-peers.py", "--rows",
                self.visit.results.folders[0] / "rows.jsonl"]

    def rows(self):
        try:
            return super().rows()
        except worker.Died as problem:
            self.visit.say(f"PyTorch's attentions are left out: {problem}")
            return []


def environment(folder):
    """Of all processes: what they need lies beside them, or where wheels put it."""
    found = dict(os.environ)
    found["PATH"] = found.get("PATH", "") + ":/usr/local/cuda/bin"
    paths = [str(folder / "lib")]
    if found.get("LD_LIBRARY_PATH"):
        paths.append(found["LD_LIBRARY_PATH"])
    # Last, so that a toolkit's comes first.
    for path in filter(None, sys.path):
        paths += sorted({str(library.parent)
                         for library in Path(path).glob("nvidia/*/lib/libcublasLt.so.*")})
    found["LD_LIBRARY_PATH"] = ":".join(paths)
    return found
