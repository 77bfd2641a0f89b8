"""A command of a visit: goes on where the last one stopped, until its seconds are over."""

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from . import model, profiles, suites, summary, worker
from .results import ATTEMPTS, FAILED, STOPPED, Results

PASSED, UNEQUAL, USAGE, NO_GPU, UNFINISHED = 0, 1, 2, 3, 4
CLOCKS = ("clocks.sm,clocks.mem,clocks.max.sm,power.draw,power.limit,temperature.gpu,"
          "clocks_event_reasons.active,driver_version,name")


class Visit:
    def __init__(self, folder, options):
        self.folder, self.options = Path(folder), options
        self.begin = time.monotonic()
        self.results = Results(options.results or self.folder / "results", options.mirror)
        self.log = self.results.log
        self.environment = suites.environment(self.folder)
        self.scratch = Path(tempfile.mkdtemp(prefix="gpu-verify-"))
        self.pending = 0
        self.commit = (self.folder / "commit").read_text().strip()

    def say(self, text):
        print(text, flush=True)

    def remaining(self):
        return self.begin + self.options.seconds - time.monotonic()

    def clocks(self, when):
        """What nvidia-smi says of the clocks, where it is there."""
        program = shutil.which("nvidia-smi", path=self.environment["PATH"])
        if program is None:
            return
        try:
            done = subprocess.run([program, f"--query-gpu={CLOCKS}", "--format=csv,noheader"],
                                  capture_output=True, text=True, timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            return
        self.results.add({"clocks": when, "values": done.stdout.strip() or done.stderr.strip()})

    def planned(self):
        """The suites, in order."""
        both = (self.folder / "b").exists()
        made = []
        for name in suites.CORRECTNESS:
            made.append(model.Models(self, name) if name == "model" else suites.Suite(self, name))
        for name in suites.TIMING:
            kind = {"peers": suites.Peers, "profiles": profiles.Profiles}.get(name, suites.Suite)
            made.append(kind(self, name))
            if name == "timing" and both:
                made[-1] = [made[-1], suites.Suite(self, name, "b")]
        for suite in suites.SANITIZED:
            made += [suites.Sanitized(self, tool, suite) for tool in suites.TOOLS]
        made.append(suites.Suite(self, "cases"))
        wanted = self.options.only.split(",") if self.options.only else None

        def name(suite):
            return suite[0].name if isinstance(suite, list) else suite.name

        return [suite if isinstance(suite, list) else [suite] for suite in made
                if wanted is None or {name(suite), name(suite).split()[0]} & set(wanted)]

    def run(self):
        try:
            facts = worker.lines([self.folder / "bin/gpu-verify", self.folder / "lib"],
                                 self.environment, self.log)[0]
        except (worker.Died, worker.Hung) as problem:
            print(str(problem).split(": ", 1)[-1])
            return NO_GPU if "with status 3" in str(problem) else USAGE
        self.results.add({"visit": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                          "commit": self.commit, **facts})
        self.say(f"{facts['device']}, compute capability {facts['compute_capability']}, driver "
                 f"{facts['driver']}, commit {self.commit[:12]}, {self.options.seconds} s")
        for builds in self.planned():
            try:
                self.run_suite(builds)
            finally:
                for suite in builds:
                    self.finish(suite)
        self.results.write("summary.txt", summary.text(self.results))
        self.say(summary.verdict(self.results))
        self.results.close()
        if self.results.failed():
            return UNEQUAL
        return UNFINISHED if self.pending else PASSED

    def finish(self, suite):
        """Ends its process, which may have more to say."""
        ending = suite.close()
        if ending:
            self.results.add({"suite": suite.name, "row": "when the process ended",
                              "build": suite.build, "seconds": 0, **ending})

    def plan(self):
        """Says what there is to run; gives the seconds that it should take, by suite."""
        seconds = {}
        for first, *_ in self.planned():
            rows = first.rows()
            seconds[first.name] = sum(each for _, each in rows)
            self.say(f"{first.name:24} {len(rows):4} rows {seconds[first.name]:6.0f} s")
        return seconds

    def run_suite(self, builds):
        """The rows that are not known yet; of several builds in turns."""
        first = builds[0]
        if self.remaining() <= 0:
            self.pending += 1
            return
        try:
            rows = first.rows()
        except (worker.Died, worker.Hung) as problem:
            self.add(first, "the names of its rows", FAILED, str(problem), 0)
            return
        also = []
        for suite in builds[1:]:
            try:
                also.append({name for name, _ in suite.rows()})
            except (worker.Died, worker.Hung) as problem:
                self.say(f"the other build is left out: {problem}")
                also.append(set())
        todo = [(name, seconds) for name, seconds in rows
                if not self.results.known(first.build, first.name, name)]
        if not todo:
            return
        self.say(f"{first.name}: {len(todo)} rows, about {sum(s for _, s in todo):.0f} s")
        slower = []  # how much longer rows took than planned
        for name, seconds in todo:
            factor = max(1, sum(slower) / len(slower)) if slower else 1
            if self.remaining() < min(seconds * factor, self.options.row_limit):
                self.pending += 1
                continue
            took = self.run_row(first, name)
            if seconds > 0.2:
                slower.append(took / seconds)
            for suite, has in zip(builds[1:], also):
                if name in has:
                    self.run_row(suite, name)
                    self.run_row(suite, name, again=True)
                    self.run_row(first, name, again=True)
        self.clocks(f"after {first.name}")

    def run_row(self, suite, name, again=False):
        """Runs and records it; gives the seconds it took. `again`: its best time of two."""
        limit = min(self.remaining(), self.options.row_limit)
        begin = time.monotonic()
        before = self.results.known(suite.build, suite.name, name)
        if again and (limit < 1 or not before or not before.get("measurements")):
            return 0
        try:
            record = suite.run(name, limit)
            status, message = record["status"], record["message"]
        except worker.Died as problem:
            record, status, message = {}, FAILED, str(problem)
        except worker.Hung as problem:
            record, status, message = {}, FAILED, str(problem)
            stopped = limit < self.options.row_limit
            if stopped and self.results.attempts(suite.build, suite.name, name) + 1 < ATTEMPTS:
                status = STOPPED
                self.pending += 1
        took = time.monotonic() - begin
        if again and status == before["status"]:
            record["measurements"] = summary.better(before["measurements"],
                                                    record.get("measurements", []))
        self.add(suite, name, status, message, took, record)
        if status == FAILED:
            self.say(f"FAILED {suite.name}: {name}: {message}")
        return took

    def add(self, suite, name, status, message, seconds, record=None):
        record = record or {}
        self.results.add({"suite": suite.name, "row": name, "build": suite.build,
                          "status": status, "message": message, "seconds": round(seconds, 3),
                          "measurements": record.get("measurements", []),
                          "kernels": record.get("kernels", [])})


def run(folder, options):
    """A visit's exit status."""
    visit = Visit(folder, options)
    if options.again:
        visit.results.forget_failures()
    try:
        return visit.plan() and PASSED if options.plan else visit.run()
    finally:
        shutil.rmtree(visit.scratch, ignore_errors=True)
