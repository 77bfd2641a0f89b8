"""A folder on the fake driver, and what its commands say."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

from .results import FAILED

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

    def start(self, results, *arguments, small=True, **environment):
        return subprocess.Popen(
            [self.folder / "gpu-verify", *(["--small"] if small else []), "--results", results,
             *arguments], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, "PATH": f"{self.tools}:{os.environ['PATH']}",
                 "KV_CUDA_DRIVER": str(self.build / "lib/libkv_fake_cuda.so"), **environment})

    def run(self, status, results, *arguments, **environment):
        """(what is said, records by (suite, row)); the exit status must be `status`."""
        process = self.start(results, *arguments, **environment)
        said, _ = process.communicate(timeout=900)
        expect(process.returncode == status,
               f"exit status {process.returncode}, not {status}: {arguments} {environment}\n{said}")
        return said, {(row["suite"], row["row"]): row for row in rows(results)}

    def ask(self, suite, row="", **environment):
        """The answer to one row; without, all of the suite."""
        process = subprocess.run(
            [self.folder / "bin/gpu-verify", self.folder / "lib", f"--suite={suite}",
             *([] if row else ["--list"])], input=row + "\n", text=True, check=True,
            stdout=subprocess.PIPE,
            env={**os.environ, "KV_CUDA_DRIVER": str(self.build / "lib/libkv_fake_cuda.so"),
                 **environment})
        answers = [json.loads(line[2:]) for line in process.stdout.splitlines()
                   if line.startswith("@ ")]
        return answers[0] if row else [answer["row"] for answer in answers]


def expect(condition, sentence):
    if not condition:
        raise SystemExit(f"gpu-verify --rehearse: {sentence}")


def rows(results):
    text = (results / "rows.jsonl").read_text()
    return [row for row in map(json.loads, text.splitlines()) if "row" in row]


def failures(records):
    return sorted(row for (_, row), record in records.items() if record["status"] == FAILED)
