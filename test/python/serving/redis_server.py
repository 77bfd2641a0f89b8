"""A redis-server of a test's own, on a Unix socket in a folder, which keeps nothing on a disk."""

import shutil
import signal
import socket
import subprocess
import tempfile
import time

import pytest

SERVER = shutil.which("redis-server") or shutil.which("valkey-server")


class RedisServer:
    def __init__(self, folder):
        """folder: for its log. Its socket is elsewhere, since names of sockets are short."""
        if not SERVER:
            pytest.skip("there is no redis-server")
        self._folder = tempfile.TemporaryDirectory()
        self._path, self._log = self._folder.name + "/redis.sock", folder / "redis.log"
        self.address = "unix://" + self._path
        self._process = None
        self.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        self._folder.cleanup()

    def start(self):
        with open(self._log, "a", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                [SERVER, "--port", "0", "--unixsocket", self._path, "--save", "", "--appendonly", "no",
                 "--dir", self._folder.name], stdout=log)
        for _ in range(1000):
            try:
                if self.ask("PING") == b"+PONG\r\n":
                    return
            except OSError:
                pass
            time.sleep(0.01)
        raise AssertionError(self._log.read_text(encoding="utf-8"))

    def stop(self):
        self._process.send_signal(signal.SIGSTOP)

    def resume(self):
        self._process.send_signal(signal.SIGCONT)

    def kill(self):
        self._process.kill()
        self._process.wait()

    def ask(self, *words):
        """The first bytes of the reply."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(5)
            connection.connect(self._path)
            words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
            connection.sendall(b"*%d\r\n" % len(words) +
                               b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
            return connection.recv(1 << 20)

    def spoil(self):
        """Every record has a wrong byte at its end, or lacks its second half. Returns how many there were."""
        script = """local n = 0
            for _, key in ipairs(redis.call('KEYS', 'kv1:*')) do
              if not string.find(key, ':epoch', 1, true) then
                local record = redis.call('GET', key)
                n = n + 1
                redis.call('SET', key, n % 2 == 0 and string.sub(record, 1, #record / 2) or
                                       string.sub(record, 1, -2) .. string.char((string.byte(record, -1) + 1) % 256))
              end
            end
            return n"""
        return int(self.ask("EVAL", script, 0)[1:])
