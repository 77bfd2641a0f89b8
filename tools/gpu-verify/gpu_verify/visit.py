"""A command of a visit: goes on where the last one stopped, until its seconds are over."""

import collections
import shutil
import tempfile
import time
from pathlib import Path

from . import model, profiles, suites, summary, worker
from .clock import Clock
from .results import ATTEMPTS, FAILED, LEFT, PASSED as ROW_PASSED, STOPPED, Results

PASSED, UNEQUAL, USAGE, NO_GPU, UNFINISHED = 0, 1, 2, 3, 4
CLOCKS = ("clocks.sm,clocks.mem,clocks.max.sm,power.draw,power.limit,temperature.gpu,"
          "clocks_event_reasons.active,driver_version,name")
# Seconds of a row: ten times what is planned, but so many at least and at most. Most rows that are
# wrong do not end, and a command has five minutes.
LEAST, MOST_OF_CORRECTNESS, MOST = 5, 20, 90
# A driver translates the kernels of other chips, each when it is first needed.
COMPILED = ("8.", "9.0")
HANGS = 2  # of a kernel, or among a suite's first rows: then no other row asks
EARLY = 3  # a suite's first rows


class Visit:
    def __init__(self, folder, options, clock=None):
        self.folder, self.options = Path(folder), options
        self.clock = clock or Clock()
        self.begin = self.clock.now()
        self.results = Results(options.results or self.folder / "results", options.mirror)
        self.log = self.results.log
        self.environment = suites.environment()
        self.scratch = Path(tempfile.mkdtemp(prefix="gpu-verify-"))
        self.pending = 0
        self.commit = (self.folder / "commit").read_text().strip()
        self.lists = {}  # of (folder, small)
        self.abandoned = set()  # (build, suite): its first rows hang
        self.has_clocks = True

    def say(self, text):
        print(text, flush=True)

    def remaining(self):
        return self.begin + self.options.seconds - self.clock.now()

    def libraries(self):
        """NAME=LIBRARY of each that is timed as well."""
        return [peer for peer in self.options.peer if "=" in peer]

    def listed(self, folder, small):
        key = folder, small
        if key not in self.lists:
            self.lists[key] = suites.listed(self, folder, small)
        return self.lists[key]

    def clocks(self, when):
        """What nvidia-smi says of the clocks, where it is there and answers."""
        program = shutil.which("nvidia-smi", path=self.environment["PATH"])
        if program is None or not self.has_clocks:
            return
        try:
            _, said, errors = worker.call(
                [program, f"--query-gpu={CLOCKS}", "--format=csv,noheader"], 10, self.environment,
                self.log, self.clock)
        except (OSError, worker.Hung):
            self.has_clocks = False
            return
        self.results.add({"clocks": when, "values": said.strip() or errors.strip()})

    def suites_of(self, name):
        """The suites of a name of suites.ORDER: one a build."""
        name, _, first = name.partition(" ")
        kind = {"model": model.Models, "peers": suites.Peers,
                "profiles": profiles.Profiles}.get(name, suites.Suite)
        made = [kind(self, name, first=bool(first))]
        if name == "timing" and (self.folder / "b").exists():
            made.append(suites.Suite(self, name, "b", first=bool(first)))
        return made

    def planned(self):
        """[(name, the suites of each build)], in order."""
        made = [(name, self.suites_of(name)) for name in suites.ORDER]
        for suite in suites.SANITIZED:
            made += [(f"{tool} {suite}", [suites.Sanitized(self, tool, suite)])
                     for tool in suites.TOOLS]
        made.append(("cases", [suites.Suite(self, "cases")]))
        wanted = set(self.options.only.split(",")) if self.options.only else None
        return [(name, builds) for name, builds in made
                if wanted is None or {name, name.split()[0]} & wanted]

    def facts(self):
        """What the machine is; or an exit status, behind a sentence."""
        try:
            return self.listed(self.folder, self.options.small)[0]
        except (worker.Died, worker.Hung) as problem:
            print(str(problem).split(": ", 1)[-1])
            return NO_GPU if "with status 3" in str(problem) else USAGE

    def run(self):
        facts = self.facts()
        if isinstance(facts, int):
            return facts
        self.results.add({"visit": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                          "commit": self.commit, **facts})
        self.say(f"{facts['device']}, compute capability {facts['compute_capability']}, driver "
                 f"{facts['driver']}, commit {self.commit[:12]}, {self.options.seconds} s")
        for name, builds in self.planned():
            try:
                self.run_suite(name, builds)
            finally:
                for suite in builds:
                    self.finish(suite)
        self.results.write("summary.txt", summary.text(self.results))
        self.say(summary.verdict(self.results))
        self.say(f"after {self.clock.now() - self.begin:.0f} s of {self.options.seconds:.0f}")
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
        """Says what there is to run."""
        facts = self.facts()
        if isinstance(facts, int):
            return facts
        counted = set()
        for name, (first, *_) in self.planned():
            rows = [row for row in first.rows() if (first.name, row.name) not in counted]
            counted |= {(first.name, row.name) for row in rows}
            self.say(f"{name:24} {len(rows):4} rows {sum(row.seconds for row in rows):6.0f} s")
        return PASSED

    def run_suite(self, name, builds):
        """The rows that are not known yet; of several builds in turns."""
        first, *others = builds
        if self.remaining() <= 0:
            self.pending += 1
            return
        try:
            rows = first.rows()
        except (worker.Died, worker.Hung) as problem:
            self.add(first, "the names of its rows", FAILED, str(problem), 0)
            return
        also = [self.names_of(suite) for suite in others]
        todo = [row for row in rows if not self.results.known(first.build, first.name, row.name)]
        if not todo:
            return
        self.say(f"{name}: {len(todo)} rows, about {sum(row.seconds for row in todo):.0f} s")
        slower = []  # how much longer rows took than planned
        hung = 0
        for number, row in enumerate(todo):
            if hung >= HANGS:
                self.abandoned.add((first.build, first.name))
            if (first.build, first.name) in self.abandoned:
                self.add(first, row.name, LEFT, f"{HANGS} of its suite's first {EARLY} rows hung", 0)
                continue
            factor = max(1, sum(slower) / len(slower)) if slower else 1
            if self.remaining() < min(row.seconds * factor, self.limit(first, row)):
                self.pending += 1
                continue
            took = self.run_row(first, row)
            hung += number < EARLY and "hung" in (
                self.results.known(first.build, first.name, row.name) or {})
            if row.seconds > 0.2:
                slower.append(took / row.seconds)
            for suite, has in zip(others, also):
                if row.name in has:
                    self.run_row(suite, row)
                    self.run_row(suite, row, again=True)
                    self.run_row(first, row, again=True)
        self.clocks(f"after {name}")

    def names_of(self, suite):
        """Of the rows of another build; none if it does not say them."""
        try:
            return {row.name for row in suite.rows()}
        except (worker.Died, worker.Hung) as problem:
            self.say(f"the other build is left out: {problem}")
            return set()

    def limit(self, suite, row):
        """The seconds that a row may take."""
        if self.options.row_limit is not None:
            return self.options.row_limit
        most = MOST_OF_CORRECTNESS if suite.name in suites.CORRECTNESS else MOST
        capability = self.results.machine().get("compute_capability", "")
        least = LEAST if capability.startswith(COMPILED) else MOST_OF_CORRECTNESS
        return min(max(least, 10 * row.seconds), most)

    def run_row(self, suite, row, again=False):
        """Runs and records it; gives the seconds it took. `again`: its best time of two."""
        name, full = row.name, self.limit(suite, row)
        limit = min(self.remaining(), full)
        begin = self.clock.now()
        before = self.results.known(suite.build, suite.name, name)
        if again and (limit < 1 or not before or not before.get("measurements")):
            return 0
        try:
            record = suite.run(name, limit)
            status, message = record["status"], record["message"]
            self.clock.advance(0 if status == LEFT else row.seconds)
        except worker.Died as problem:
            record, status, message = {}, FAILED, str(problem)
            self.clock.advance(row.seconds)
        except worker.Hung as problem:
            record = {"hung": self.suspects(problem.launched, suite.build)}
            status, message = FAILED, str(problem)
            if limit < full and self.results.attempts(suite.build, suite.name, name) + 1 < ATTEMPTS:
                record, status = {}, STOPPED
                self.pending += 1
        took = self.clock.now() - begin
        if again and status == before["status"]:
            record["measurements"] = summary.better(before["measurements"],
                                                    record.get("measurements", []))
        self.add(suite, name, status, message, took, record)
        if status == FAILED:
            self.say(f"FAILED {suite.name}: {name}: {summary.short(message)}")
        return took

    def right(self, build):
        """The kernels of rows that passed."""
        return {kernel for (of, _, _), record in self.results.rows.items()
                if of == build and record["status"] == ROW_PASSED
                for kernel in record.get("kernels", [])}

    def suspects(self, launched, build):
        """Of the kernels that a row launched, those that may have hung: if there are such, those that
        have never been in a row that passed; else the last one."""
        right = self.right(build)
        return [kernel for kernel in launched if kernel not in right] or launched[-1:]

    def hung_kernels(self, build):
        """Those that have hung so often that no row launches them. Of several suspects, those that
        were in a row that passed since are none."""
        right = self.right(build)
        hangs = collections.Counter(
            kernel for record in self.results.hung(build) for kernel in record["hung"]
            if len(record["hung"]) == 1 or kernel not in right)
        return sorted(kernel for kernel, count in hangs.items() if count >= HANGS)

    def add(self, suite, name, status, message, seconds, record=None):
        record = record or {}
        self.results.add({"suite": suite.name, "row": name, "build": suite.build,
                          "status": status, "message": message, "seconds": round(seconds, 3),
                          "measurements": record.get("measurements", []),
                          "kernels": record.get("kernels", []),
                          **({"hung": record["hung"]} if "hung" in record else {})})


def run(folder, options, clock=None):
    """A visit's exit status."""
    visit = Visit(folder, options, clock)
    if options.again:
        visit.results.forget_failures()
    try:
        return visit.plan() if options.plan else visit.run()
    finally:
        shutil.rmtree(visit.scratch, ignore_errors=True)
