"""What is known so far: a line of JSON a row, written as soon as it is known."""

import json
from pathlib import Path

PASSED, FAILED = "passed", "failed"
LEFT = "left"  # not looked at, and will not be: the message says why
STOPPED = "stopped"  # the visit ended while it ran; a later command tries again

# A kernel that hangs a machine must not take every visit's last minutes.
ATTEMPTS = 2
LOG_BYTES = 1 << 20  # of log.txt that come back


class Results:
    """rows.jsonl and the other files of a folder, and of a second one that gets the same.

    A row is {"suite", "row", "build", "status", "message", "seconds", "measurements", "kernels"}, and
    "hung", what it may have hung in, if it has hung; lines without "row" say what the machine was."""

    def __init__(self, folder, mirror=None):
        self.folders = [Path(folder)] + ([Path(mirror)] if mirror else [])
        for each in self.folders:
            each.mkdir(parents=True, exist_ok=True)
        self.facts, self.rows, self.stopped = [], {}, {}
        text = ""
        kept = self.folders[0] / "rows.jsonl"
        if kept.exists():
            # A process that was killed may have left half a line.
            text = "".join(line for line in kept.read_text().splitlines(keepends=True)
                           if line.endswith("\n") and line.startswith("{"))
        for line in text.splitlines():
            self._take(json.loads(line))
        for each in self.folders:
            (each / "rows.jsonl").write_text(text)
        self.log = open(self.folders[0] / "log.txt", "a", encoding="utf-8", buffering=1)

    def _take(self, record):
        if "row" not in record:
            self.facts.append(record)
            return
        key = (record["build"], record["suite"], record["row"])
        if record["status"] == STOPPED:
            self.stopped[key] = self.stopped.get(key, 0) + 1
        else:
            self.rows[key] = record

    def add(self, record):
        self._take(record)
        for each in self.folders:
            with open(each / "rows.jsonl", "a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
        self._mirror_log()

    def _mirror_log(self):
        """The log's last MiB goes to the mirror as well: what comes back is small."""
        if not self.log.closed:
            self.log.flush()
        for each in self.folders[1:]:
            with open(self.folders[0] / "log.txt", "rb") as file:
                file.seek(0, 2)
                file.seek(max(0, file.tell() - LOG_BYTES))
                (each / "log.txt").write_bytes(file.read())

    def known(self, build, suite, row):
        return self.rows.get((build, suite, row))

    def attempts(self, build, suite, row):
        return self.stopped.get((build, suite, row), 0)

    def forget_failures(self):
        """Failed rows run again, and those that were left for them."""
        self.rows = {key: row for key, row in self.rows.items()
                     if row["status"] not in (FAILED, LEFT)}

    def hung(self, build):
        """Rows that have hung."""
        return [row for row in self.rows.values() if row["build"] == build and "hung" in row]

    def failed(self):
        return [row for row in self.rows.values() if row["status"] == FAILED]

    def machine(self):
        """What the last visit says of it; nothing before the first one."""
        return next((fact for fact in reversed(self.facts) if "visit" in fact), {})

    def write(self, name, text):
        for each in self.folders:
            (each / name).write_text(text)

    def close(self):
        self.log.close()
        self._mirror_log()
