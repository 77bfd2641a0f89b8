"""A process that runs rows one after the other, and may die of any."""

import json
import queue
import signal
import subprocess
import threading
import time


class Died(Exception):
    """The process ended while it ran a row; the text says how."""


class Hung(Exception):
    """A row took longer than it may; the process is gone."""


class Worker:
    """`command` answers each line on its standard input by one line "@ {...}" on its standard
    output. What it says on its standard error goes to `log`."""

    def __init__(self, command, environment, log):
        self.log = log
        self.said = ""  # the last line on its standard error
        self.answers = queue.Queue()
        self.process = subprocess.Popen(
            [str(part) for part in command], env=environment, text=True, errors="replace",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.threads = [threading.Thread(target=self._answers, daemon=True),
                        threading.Thread(target=self._errors, daemon=True)]
        for thread in self.threads:
            thread.start()

    def _answers(self):
        for line in self.process.stdout:
            if line.startswith("@ "):
                self.answers.put(json.loads(line[2:]))
        self.answers.put(None)

    def _errors(self):
        for line in self.process.stderr:
            self.said = line.strip() or self.said
            self.log.write(line)

    def read(self, seconds):
        """The next answer; Died or Hung."""
        try:
            answer = self.answers.get(timeout=max(seconds, 0.01))
        except queue.Empty:
            self.kill()
            raise Hung(f"it did not end within {seconds:.0f} s") from None
        if answer is None:
            raise Died(self.end())
        return answer

    def ask(self, row, seconds):
        """The answer to `row`; Died or Hung."""
        try:
            self.process.stdin.write(row + "\n")
            self.process.stdin.flush()
        except OSError:
            raise Died(self.end()) from None
        return self.read(seconds)

    def end(self):
        """Waits for a process that is ending, and says how it did."""
        status = self.process.wait()
        for thread in self.threads:
            thread.join(timeout=10)
        how = (f"the process died of {signal.Signals(-status).name}" if status < 0
               else f"the process ended with status {status}")
        return f"{how}: {self.said}" if self.said else how

    def close(self, seconds=60):
        """No row follows; gives the exit status, None where it had to be killed."""
        try:
            self.process.stdin.close()
            return self.process.wait(timeout=seconds)
        except (OSError, subprocess.TimeoutExpired):
            self.kill()
            return None

    def kill(self):
        self.process.kill()
        self.process.wait()


def lines(command, environment, log, seconds=120):
    """All that a command says by "@ " before it ends with status 0; else Died or Hung."""
    worker = Worker(command, environment, log)
    end = time.monotonic() + seconds
    answers = []
    while True:
        try:
            answers.append(worker.read(end - time.monotonic()))
        except Died:
            if worker.process.returncode:
                raise
            return answers
