"""Two kv-runs, of which one computes prompts for the other."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from tools import find

KV_RUN = find("kv-run")


def nixl():
    """libnixl_capi.so of the environment that runs the tests (test/python/serving/requirements-transport.txt)."""
    found = sorted(Path(sys.prefix).glob("lib/python3*/site-packages/.nixl_cu12*/libnixl_capi.so"))
    assert found, "nixl-cu12 is not installed: scripts/setup.sh does it"
    return str(found[0])


def environment(**more):
    # Loopback and shared memory: what every machine has.
    return {**os.environ, "KV_NIXL_LIBRARY": nixl(), "UCX_TLS": "tcp,sm,self", "UCX_NET_DEVICES": "lo", **more}


def command(artifact, *options):
    return [KV_RUN, artifact / "model.so", "--weights", artifact / "weights.safetensors", "--threads", "1",
            *map(str, options)]


def listens(path):
    """Whether somebody accepts connections at this path; a killed process leaves it behind."""
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


class Prefill:
    """A prefilling kv-run that listens."""

    def __init__(self, artifact, *options, endpoint=None):
        self.folder = tempfile.TemporaryDirectory(prefix="kv-peers-")
        self.endpoint = endpoint or f"ipc://{self.folder.name}/control"
        self.process = subprocess.Popen(command(artifact, "--role", "prefill", "--peer", self.endpoint, *options),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, env=environment())
        path = Path(self.endpoint.removeprefix("ipc://"))
        until = time.monotonic() + 60
        while not listens(path):
            assert self.process.poll() is None, self.process.stderr.read()
            assert time.monotonic() < until, "it does not listen"
            time.sleep(0.02)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        """Tells it to end; its statistics."""
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, err
        return json.loads(out.splitlines()[-1])["statistics"]


class Decode:
    """A decoding kv-run that is given requests one by one."""

    def __init__(self, artifact, endpoint, *options):
        self.process = subprocess.Popen(command(artifact, "--role", "decode", "--peer", endpoint, *options),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, env=environment())
        self.notes = []
        self.reader = threading.Thread(target=lambda: self.notes.extend(self.process.stderr), daemon=True)
        self.reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def send(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def answer(self, request):
        """[(token, digest)] of this request alone, and its line of figures."""
        self.send(request)
        tokens = []
        for line in self.process.stdout:
            line = json.loads(line)
            assert "error" not in line, line
            if "finish_reason" in line:
                return tokens, line
            tokens.append((line["token"], line["logits_digest"]))
        raise AssertionError("".join(self.notes))

    def end(self):
        self.process.stdin.close()
        lines = self.process.stdout.read().splitlines()
        assert self.process.wait(timeout=120) == 0, self.notes
        self.reader.join(timeout=10)
        return json.loads(lines[-1])["statistics"]
