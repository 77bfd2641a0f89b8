"""What others see of a kv-serve while one client attacks it: `python test/python/serving/canary.py [SECONDS [ATTACK...]]`
prints the longest time in which the server did not answer, of each attack.

One thread asks /health every 20 ms, over a connection of its own each time. Another one reads one stream after the
other: the time to its beginning and between its events counts. The attack is another process."""

import contextlib
import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PERIOD = 0.02


class Canary:
    """worst: seconds, of "health" and of "stream"."""

    def __init__(self, port):
        self.port, self.worst, self.failure = port, {"health": 0.0, "stream": 0.0}, None
        self._ends = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(one,)) for one in (self._ask, self._read)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._ends.set()
        for thread in self._threads:
            thread.join()

    def _run(self, once):
        while not self._ends.is_set():
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            try:
                with contextlib.closing(connection):
                    once(connection)
            except Exception as error:
                self.failure = f"{once.__name__}: {type(error).__name__}: {error}"
            time.sleep(PERIOD)

    def _note(self, name, begin):
        now = time.monotonic()
        self.worst[name] = max(self.worst[name], now - begin)
        return now

    def _ask(self, connection):
        begin = time.monotonic()
        connection.request("GET", "/health")
        answer = connection.getresponse()
        answer.read()
        self._note("health", begin)
        if answer.status != 200:
            raise ValueError(f"status {answer.status}")

    def _read(self, connection):
        begin = time.monotonic()
        connection.request("POST", "/v1/completions", json.dumps(
            {"model": "tiny", "prompt": "abc", "max_tokens": 8, "stream": True, "ignore_eos": True}))
        answer = connection.getresponse()
        if answer.status != 200:
            raise ValueError(f"status {answer.status}: {answer.read()}")
        last = b""
        while line := answer.readline():
            if line != b"\n":
                begin, last = self._note("stream", begin), line
        if last != b"data: [DONE]\n":
            raise ValueError(f"the stream's last line is {last}")


def watch(port, attack, seconds):
    """The canary of an attack that goes on for so long."""
    process = subprocess.Popen([sys.executable, HERE / "attacks.py", attack, str(port)]) if attack else None
    try:
        time.sleep(0.3)
        with Canary(port) as canary:
            time.sleep(seconds)
    finally:
        if process:
            assert process.poll() is None, f"the attack {attack} has ended by itself"
            process.kill()
            process.wait()
    return canary


def with_template(folder, place, template):
    """A copy of the model folder with this chat template."""
    shutil.copytree(folder, place)
    facts = json.loads((place / "model.json").read_text())
    (place / "model.json").write_text(json.dumps({**facts, "chat_template": template}))
    return place


def main(seconds=5, *names):
    import attacks
    from serve_process import Serve, make_tiny

    with tempfile.TemporaryDirectory() as place:
        folder = with_template(make_tiny(Path(place)), Path(place) / "attacked", attacks.EATER)
        with Serve(folder, "--max-batch", 64) as server:
            print(f"{'attack':16} {'health ms':>10} {'stream ms':>10}   RSS MB   the attack")
            for name in names or (None, *attacks.ATTACKS):
                canary = watch(server.port, name, float(seconds))
                with open(f"/proc/{server.process.pid}/statm") as file:
                    size = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
                words = " ".join((attacks.ATTACKS[name].__doc__ or "").split()) if name else ""
                print(f"{name or 'none':16} {canary.worst['health'] * 1e3:10.0f} {canary.worst['stream'] * 1e3:10.0f} "
                      f"{size:8.0f}   {canary.failure or words}", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    import conftest  # noqa: F401  where the packages are
    main(*sys.argv[1:])
