"""A folder on the fake driver, and what its commands say."""

import contextlib
import io
import json
import os
import queue
import subprocess
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from . import visit
from .clock import KILLED, Clock
from .results import FAILED

PATIENCE = 900  # seconds: emulated kernels are slow, and machines are busy
HANG = "a planted hang"  # the fake driver says so

SANITIZER = """#!/bin/sh
# compute-sanitizer --tool T --print-limit N --log-file F PROGRAM...
tool=$2 log=$6
shift 6
echo "========= COMPUTE-SANITIZER" >"$log"
[ -z "$GPU_VERIFY_REHEARSED_REFUSAL" ] ||
  { echo "========= Error: Device not supported" >>"$log"; exit 1; }
[ "$tool" != "$GPU_VERIFY_REHEARSED_REPORT" ] ||
  printf '========= Error: Race reported between two accesses\\n=========     at 0x10\\n' >>"$log"
"$@"
status=$?
echo "========= ERROR SUMMARY: 0 errors" >>"$log"
exit $status
"""
# ncu ... --log-file F ... PROGRAM LIBRARIES --suite=timing...
NCU = """#!/bin/sh
while [ "${1##*/}" != gpu-verify ]; do
  [ "$1" != --log-file ] || log=$2
  shift
done
echo "==PROF== Connected" >"$log"
[ -z "$GPU_VERIFY_REHEARSED_REFUSAL" ] ||
  { echo "==ERROR== ERR_NVGPUCTRPERM - no permission" >>"$log"; exit 1; }
"$@" || exit $?
cat >>"$log" <<'END'
"Kernel Name","gpu__time_duration.sum","lts__throughput.avg.pct_of_peak_sustained_elapsed",\
"smsp__average_warps_issue_stalled_wait_per_issue_active.ratio",\
"smsp__average_warps_issue_stalled_selected_per_issue_active.ratio",\
"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"
"","us","%","inst","inst","inst"
"kv_attention_decode_bf16_128","1,040.5","61.5","0.25","1","3.5"
"kv_merge","2","1","1","1","1"
END
"""


class RehearsedClock(Clock):
    """Goes on by what was planned, and by a row's limit where the fake driver hangs. A process in
    which the kernel `stuck` hangs does not end when it is killed."""

    def __init__(self, stuck=None):
        self.time, self.stuck = 0.0, stuck
        self.waited_for, self.left = None, []

    def now(self):
        return self.time

    def advance(self, seconds):
        self.time += seconds

    def answer(self, worker, seconds):
        self.waited_for = worker
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                return worker.answers.get(timeout=0.05)
            except queue.Empty:
                if HANG in worker.said:
                    self.time += seconds
                    raise
        raise SystemExit("gpu-verify --rehearse: a row does not end, and no hang was planted in it")

    def kill(self, process):
        if self.stuck and self.waited_for.launched[-1:] == [self.stuck]:
            self.left.append(process)
            self.time += KILLED
            return False
        return super().kill(process)

    def patience(self, seconds):
        return PATIENCE

    def close(self):
        for process in self.left:
            super().kill(process)


class Rehearsal:
    def __init__(self, build):
        self.scratch = tempfile.TemporaryDirectory(prefix="gpu-verify-")
        self.folder = Path(self.scratch.name) / "visit"
        self.build, self.results = build, 0
        self.tools = Path(self.scratch.name) / "tools"
        self.tools.mkdir()
        for name, text in (("compute-sanitizer", SANITIZER), ("ncu", NCU)):
            (self.tools / name).write_text(text)
            (self.tools / name).chmod(0o755)

    def fresh(self):
        """A folder for results."""
        self.results += 1
        return Path(self.scratch.name) / f"results-{self.results}"

    def environment(self, **more):
        return {**os.environ, "PATH": f"{self.tools}:{os.environ['PATH']}",
                "KV_CUDA_DRIVER": str(self.build / "lib/libkv_fake_cuda.so"), **more}

    def start(self, results, *arguments, small=True, **environment):
        limit = [] if "--row-limit" in arguments else ["--row-limit", str(PATIENCE)]
        return subprocess.Popen(
            [self.folder / "gpu-verify", *(["--small"] if small else []), "--results", results,
             *limit, *arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=self.environment(**environment))

    def visit(self, status, results, clock, only, seconds, again=False, **environment):
        """As run(), by a clock that is not this machine's."""
        options = SimpleNamespace(results=results, mirror=None, seconds=seconds, row_limit=None,
                                  only=only, plan=False, again=again, peer=[], small=True)
        said = io.StringIO()
        with mock.patch.dict(os.environ, self.environment(**environment)), \
                contextlib.redirect_stdout(said):
            given = visit.run(self.folder, options, clock)
        clock.close()
        expect(given == status, f"status {given}, not {status}:\n{said.getvalue()}")
        return said.getvalue(), {(row["suite"], row["row"]): row for row in rows(results)}

    def run(self, status, results, *arguments, **environment):
        """(what is said, records by (suite, row)); the exit status must be `status`."""
        process = self.start(results, *arguments, **environment)
        said, _ = process.communicate(timeout=PATIENCE)
        expect(process.returncode == status,
               f"exit status {process.returncode}, not {status}: {arguments} {environment}\n{said}")
        return said, {(row["suite"], row["row"]): row for row in rows(results)}

    def ask(self, suite, row="", small=False, **environment):
        """The answer to one row; without, all of the suite."""
        process = subprocess.run(
            [self.folder / "bin/gpu-verify", self.folder / "lib", f"--suite={suite}",
             *(["--small"] if small else []), *([] if row else ["--list"])], input=row + "\n", text=True, check=True,
            stdout=subprocess.PIPE,
            env=self.environment(**environment))
        answers = [json.loads(line[2:]) for line in process.stdout.splitlines()
                   if line.startswith("@ ")]
        # Before them comes that it is ready, or what the machine is.
        return answers[1] if row else [answer["row"] for answer in answers[1:]]


def expect(condition, sentence):
    if not condition:
        raise SystemExit(f"gpu-verify --rehearse: {sentence}")


def rows(results):
    text = (results / "rows.jsonl").read_text()
    return [row for row in map(json.loads, text.splitlines()) if "row" in row]


def failures(records):
    return sorted(row for (_, row), record in records.items() if record["status"] == FAILED)
