"""kv-serve among 32 ordinary clients gets SIGTERM: `python test/python/serving/sigterm.py [ROUNDS]` prints how often it did
not end (46 rounds without a number)."""

import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

CLIENTS, PATIENCE = 32, 20


def _ask(port, number, ends):
    import attacks
    while not ends.is_set():
        try:
            attacks.post(port, "/v1/completions", json.dumps(
                {"model": "tiny", "prompt": "x" * (number % 16 + 1), "max_tokens": 100, "stream": number % 2 == 0,
                 "ignore_eos": True}).encode())
        except (OSError, ValueError, IndexError):
            time.sleep(0.05)


def lost(folder, rounds, show=lambda line: None):
    """How many of the rounds it did not end in."""
    from serve_process import Serve
    count = 0
    for number in range(rounds):
        ends = threading.Event()
        with Serve(folder, "--shutdown-seconds", 1) as server:
            clients = [threading.Thread(target=_ask, args=(server.port, i, ends)) for i in range(CLIENTS)]
            for client in clients:
                client.start()
            time.sleep(0.5 + number % 10 / 10)
            begin = time.monotonic()
            server.process.terminate()
            try:
                status = server.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                status = None
            count += status != 0
            show(f"round {number + 1}: status {status} after {time.monotonic() - begin:.1f} s")
        ends.set()
        for client in clients:
            client.join()
    return count


def main(rounds=46):
    from serve_process import make_tiny
    with tempfile.TemporaryDirectory() as place:
        print(f"{lost(make_tiny(Path(place)), int(rounds), print)} of {rounds} lost")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    import conftest  # noqa: F401  where the packages are
    main(*sys.argv[1:])
