"""Systems that have Python and nothing of this project: tests install there what the scripts build."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def mirror():
    """Where this machine has its packages from."""
    return subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages",
                           "Label: Debian"], check=True, text=True, capture_output=True).stdout.split()[0]


class System:
    """A root file system that debootstrap makes, and processes in it that see its /proc and the machine's /dev. Only root
    can make one. Commands run in its /home, which is empty at first."""

    def __init__(self, suite, more=()):
        """suite: the release of Debian. more: names of packages that it has besides Python."""
        self.root = ROOT / "build/roots" / "-".join([suite, *more])
        if not (self.root / "complete").exists():
            shutil.rmtree(self.root, ignore_errors=True)
            subprocess.run(["debootstrap", "--variant=minbase", f"--include={','.join(['python3', 'python3-venv', *more])}",
                            suite, self.root, mirror()], check=True, stdout=subprocess.DEVNULL)
            (self.root / "complete").touch()
        self.home = self.root / "home"
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir()

    def download(self, python, *wanted):
        """Wheels that pip chooses for a version of Python, with those that they need, into /home/wheels."""
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
                        "--only-binary=:all:", "--python-version", python, "-d", self.home / "wheels", *wanted], check=True)

    def start(self, command):
        inner = ("mount -t proc proc $1/proc && mount --rbind /dev $1/dev && exec chroot $1 "
                 "/usr/bin/env -i HOME=/home PATH=/home/venv/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -c \"cd /home; $2\"")
        return subprocess.Popen(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", inner, "sh",
                                 self.root, command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def _finish(self, command, wanted):
        process = self.start(command)
        out, _ = process.communicate(timeout=600)
        if (process.returncode == 0) != wanted:
            sys.exit(f"{self.root.name}: {command}: status {process.returncode}\n{out}")
        return out

    def run(self, command):
        """(seconds, output) of a command that must succeed."""
        begin = time.perf_counter()
        out = self._finish(command, True)
        return time.perf_counter() - begin, out

    def fails(self, command):
        """The output of a command that must fail."""
        return self._finish(command, False)
