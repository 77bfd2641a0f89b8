"""A process that runs rows one after the other, and may die of any."""

import json
import queue
import signal
import subprocess
import threading

from .clock import KILLED

START = 1.5  # seconds until a process has the device, on a machine with a GPU
LISTED = 30  # seconds in which a process names its rows


class Died(Exception):
    """The process ended while it ran a row; the text says how."""


class Hung(Exception):
    """A row took longer than it may; the process is gone, or was left alone. `launched`: the kernels
    that the row had launched."""

    def __init__(self, sentence, launched=()):
        super().__init__(sentence)
        self.launched = list(launched)


def end(process, clock, log):
    """Kills a process. One that does not end is left alone; a sentence, to be put behind another."""
    if clock.kill(process):
        return ""
    log.write(f"gpu-verify: process {process.pid} does not end\n")
    return f", and its process does not end within {KILLED} s: it is left alone"


class Worker:
    """`command` says "@ {"ready"...}" once it has the device, and then answers each line on its standard input by one line "@ {...}" on its standard
    output; before it, "+ NAME" names each kernel that it launches. What it says on its standard
    error goes to `log`."""

    def __init__(self, command, environment, log, clock):
        self.log, self.clock = log, clock
        self.said = ""  # the last line on its standard error
        self.launched = []  # by the row that runs
        self.answers = queue.Queue()
        self.process = subprocess.Popen(
            [str(part) for part in command], env=environment, text=True, errors="replace",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True)
        clock.advance(START)
        self.threads = [threading.Thread(target=self._answers, daemon=True),
                        threading.Thread(target=self._errors, daemon=True)]
        for thread in self.threads:
            thread.start()

    def _answers(self):
        for line in self.process.stdout:
            if line.startswith("@ "):
                self.answers.put(json.loads(line[2:]))
            elif line.startswith("+ "):
                self.launched.append(line[2:].strip())
        self.answers.put(None)

    def _errors(self):
        for line in self.process.stderr:
            self.said = line.strip() or self.said
            if not self.log.closed:  # a process that was left alone may say more
                self.log.write(line)

    def read(self, seconds):
        """The next answer; Died or Hung."""
        try:
            answer = self.clock.answer(self, seconds)
        except queue.Empty:
            sentence = f"it did not end within {seconds:.0f} s"
            if self.launched:
                sentence += f", the last kernel launched is {self.launched[-1]}"
            sentence += end(self.process, self.clock, self.log)
            raise Hung(sentence, self.launched) from None
        if answer is None:
            raise Died(self.end())
        return answer

    def start(self, seconds):
        """Waits until it is ready: what that takes is no row's time. Died or Hung."""
        try:
            self.read(seconds)
        except Hung as problem:
            raise Hung(f"the process is not ready: {problem}") from None

    def ask(self, row, seconds):
        """The answer to `row`; Died or Hung."""
        self.launched = []
        try:
            self.process.stdin.write(row + "\n")
            self.process.stdin.flush()
        except OSError:
            raise Died(self.end()) from None
        return self.read(seconds)

    def end(self):
        """Waits for a process that is ending, and says how it did."""
        try:
            status = self.process.wait(timeout=KILLED)
        except subprocess.TimeoutExpired:
            return "the process has closed its output" + end(self.process, self.clock, self.log)
        for thread in self.threads:
            thread.join(timeout=10)
        how = (f"the process died of {signal.Signals(-status).name}" if status < 0
               else f"the process ended with status {status}")
        return f"{how}: {self.said}" if self.said else how

    def close(self, seconds=10):
        """No row follows; gives the exit status, None where it had to be killed."""
        try:
            self.process.stdin.close()
            return self.process.wait(timeout=seconds)
        except (OSError, subprocess.TimeoutExpired):
            end(self.process, self.clock, self.log)
            return None


def lines(command, environment, log, clock, seconds=LISTED):
    """All that a command says by "@ " before it ends with status 0; else Died or Hung."""
    worker = Worker(command, environment, log, clock)
    last = clock.now() + seconds
    answers = []
    while True:
        try:
            answers.append(worker.read(last - clock.now()))
        except Died:
            if worker.process.returncode:
                raise
            return answers


def call(command, seconds, environment, log, clock, given="", output=None):
    """(exit status, what it said on its standard output, and on its standard error); Hung. `output`:
    a file that gets the former. A program whose child holds the GPU ends with it."""
    process = subprocess.Popen(
        [str(part) for part in command], env=environment, text=True, errors="replace",
        stdin=subprocess.PIPE, stdout=output or subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True)
    try:
        said, errors = process.communicate(given, timeout=clock.patience(seconds))
    except subprocess.TimeoutExpired:
        name = str(command[0]).rsplit("/", 1)[-1]
        raise Hung(f"{name} did not end within {seconds:.0f} s"
                   + end(process, clock, log)) from None
    return process.returncode, said or "", errors
