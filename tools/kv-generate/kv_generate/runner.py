"""kv-run as a process: requests in, answers out, one JSON object a line."""

import json
import shutil
import subprocess
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
    def __init__(self, program, model, options):
        command = [program, str(model.artifact), "--weights", str(model.weights), *options]
        self.statistics = None
        try:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            text=True, encoding="utf-8", bufsize=1)
        except OSError as error:
            raise GenerateFailure(f"{program}: cannot be started: {error.strerror}")

    def send(self, request):
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except OSError:
            self._died()

    def no_more(self):
        try:
            self.process.stdin.close()
        except OSError:
            self._died()

    def answers(self):
        """Every answer until the process closes its output."""
        for line in self.process.stdout:
            try:
                answer = json.loads(line)
            except ValueError:
                raise GenerateFailure(f"kv-run: not an answer: {line.strip()[:100]!r}")
            if "statistics" in answer:
                self.statistics = answer["statistics"]
            else:
                yield answer

    def one(self, request):
        """The answers of a single request, until its last line; the process goes on."""
        self.send(request)
        for answer in self.answers():
            yield answer
            if "finish_reason" in answer or "error" in answer:
                return
        self._died()

    def close(self):
        """Waits for the end; returns the exit status."""
        if not self.process.stdin.closed:
            self.no_more()
        for _ in self.answers():
            pass
        return self.process.wait()

    def stop(self):
        """For the way out after an error."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def _died(self):
        status = self.process.wait()
        raise GenerateFailure(f"kv-run: ended early with status {status}")
