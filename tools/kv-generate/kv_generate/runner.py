"""kv-run as a process: requests in, answers out, one JSON object a line."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from .errors import GenerateFailure

ROOT = Path(__file__).resolve().parents[3]


def find_kv_run(given=None):
    if given:
        if not Path(given).is_file():
            raise GenerateFailure(f"--kv-run {given}: no such file")
        return str(given)
    found = shutil.which("kv-run")
    if found:
        return found
    builds = sorted(ROOT.glob("build/*/bin/kv-run"), key=lambda p: p.parts[-3] != "release")
    for path in [ROOT / "bin/kv-run", *builds]:
        if path.is_file():
            return str(path)
    raise GenerateFailure("kv-run: not found; looked in PATH and in build/*/bin beside this tool, "
                          "--kv-run FILE names it")


class Runner:
    """One kv-run. With `requests` it answers those: they go through a file, since a pipe would
    block when answers come before all of them are read. Without, ask() sends one at a time and
    the process, and with it the prefix cache, stays."""

    def __init__(self, program, model, options, requests=None):
        command = [program, str(model.artifact), "--weights", str(model.weights), *options]
        self.statistics = None
        with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
            if requests is not None:
                file.writelines(json.dumps(request) + "\n" for request in requests)
                file.seek(0)
            try:
                self.process = subprocess.Popen(
                    command, stdin=subprocess.PIPE if requests is None else file,
                    stdout=subprocess.PIPE, text=True, encoding="utf-8")
            except OSError as error:
                raise GenerateFailure(f"{program}: cannot be started: {error.strerror}")

    def ask(self, request):
        """The answers of one request as they come."""
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise GenerateFailure(f"kv-run: ended with status {self.process.wait()}")
        for answer in self.answers():
            yield answer
            if "token" not in answer:
                return
        raise GenerateFailure(f"kv-run: ended with status {self.close()} before the answer")

    def answers(self):
        """Every answer as it comes, until the process closes its output."""
        for line in self.process.stdout:
            try:
                answer = json.loads(line)
            except ValueError:
                answer = None
            if not isinstance(answer, dict):
                raise GenerateFailure(f"kv-run: not an answer: {line.strip()[:100]!r}")
            if "statistics" in answer:
                self.statistics = answer["statistics"]
            else:
                yield answer

    def close(self):
        """No more requests; waits for the end and returns the exit status."""
        if self.process.stdin:
            self.process.stdin.close()
            for _ in self.answers():
                pass
        return self.process.wait()

    def stop(self):
        """For the way out after an error."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
