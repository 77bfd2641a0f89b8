"""Time, and what is waited for. The rehearsal has a clock of its own, which goes on by what was
planned: so it says how long a visit takes on a machine that nobody has here."""

import os
import signal
import subprocess
import time

KILLED = 5  # seconds in which a process that was killed ends, unless the driver holds it


class Clock:
    def now(self):
        return time.monotonic()

    def advance(self, seconds):
        """Something has been done that takes so long on a GPU: here it has taken its time."""

    def answer(self, worker, seconds):
        """The worker's next answer; queue.Empty: it takes longer."""
        return worker.answers.get(timeout=max(seconds, 0.01))

    def kill(self, process):
        """Ends a process and what it has started; False: it does not end, for the driver holds it."""
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            process.kill()
        try:
            process.wait(timeout=KILLED)
        except subprocess.TimeoutExpired:
            return False
        return True

    def patience(self, seconds):
        """How long to wait here for what may take so many seconds on a GPU."""
        return seconds
