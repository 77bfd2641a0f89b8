"""The wheel in clean systems: install, answer, serve, compile, uninstall, and what each takes.

Run by scripts/test-wheel.sh, as root, with debootstrap: wheel.py WHEEL. Each system has Python and nothing of
this project; what pip installs beside the wheel is downloaded before the clock runs."""

import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from smollm2 import ROOT
from table import Table

SYSTEMS = {"Debian 12": ("bookworm", "3.11"), "Debian 13": ("trixie", "3.13")}
MODEL = ROOT / "build/models/SmolLM2-135M-Instruct.Q4_1.gguf"
QUESTION = "What is the capital of Germany?"
PROGRAMS = "kv-compile kv-generate kv-import kv-lsp-server kv-opt kv-reduce kv-route kv-run kv-serve kvmlir".split()
MODULE = ROOT / "docs/start/tutorial.md"


def mirror():
    """Where this machine has its packages from."""
    return subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages",
                           "Label: Debian"], check=True, text=True, capture_output=True).stdout.split()[0]


class System:
    """A root file system, and processes in it that see its /proc and the machine's /dev."""

    def __init__(self, suite, python, wheel):
        self.root = ROOT / "build/roots" / suite
        if not (self.root / "complete").exists():
            shutil.rmtree(self.root, ignore_errors=True)
            subprocess.run(["debootstrap", "--variant=minbase", "--include=python3,python3-venv", suite, self.root,
                            mirror()], check=True, stdout=subprocess.DEVNULL)
            (self.root / "complete").touch()
        self.home = self.root / "home"
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir()
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
                        "--only-binary=:all:", "--python-version", python, "-d", self.home / "wheels", wheel], check=True)
        shutil.copy(MODEL, self.home / "model.gguf")
        text = MODULE.read_text(encoding="utf-8").partition("```mlir file=attend.mlir\n")[2].partition("```")[0]
        (self.home / "attend.mlir").write_text(text, encoding="utf-8")
        self.run("python3 -m venv --clear venv")

    def start(self, command):
        inner = ("mount -t proc proc $1/proc && mount --rbind /dev $1/dev && exec chroot $1 "
                 "/usr/bin/env -i HOME=/home PATH=/home/venv/bin:/usr/bin:/bin sh -c \"cd /home; $2\"")
        return subprocess.Popen(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", inner, "sh",
                                 self.root, command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, command):
        """(seconds, output) of a command that must succeed."""
        begin = time.perf_counter()
        process = self.start(command)
        out, _ = process.communicate(timeout=600)
        if process.returncode:
            sys.exit(f"wheel.py: {self.root.name}: {command}: status {process.returncode}\n{out}")
        return time.perf_counter() - begin, out


def first_token(system):
    """Seconds to the first bytes of the answer."""
    begin = time.perf_counter()
    process = system.start(f"kvmlir generate model.gguf --temperature 0 --max-new-tokens 24 '{QUESTION}' 2>said")
    first = process.stdout.read(1)
    seconds = time.perf_counter() - begin
    answer = first + process.communicate(timeout=600)[0]
    assert process.returncode == 0 and "Berlin" in answer, answer + (system.home / "said").read_text()
    return seconds


def serve(system):
    """Seconds to a server's first answer."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    body = json.dumps({"model": "m", "temperature": 0, "max_tokens": 24,
                       "messages": [{"role": "user", "content": QUESTION}]}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/chat/completions", body,
                                     {"Content-Type": "application/json"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    begin = time.perf_counter()
    process = system.start(f"exec kvmlir serve model.gguf --served-model-name m --port {port}")
    try:
        while True:
            try:
                answer = json.load(opener.open(request, timeout=60))
                break
            except urllib.error.URLError as error:
                if process.poll() is not None or not isinstance(error.reason, ConnectionRefusedError):
                    raise
                time.sleep(0.05)
    finally:
        process.kill()  # unshare ends for no other signal, and all in it with it
    assert "Berlin" in answer["choices"][0]["message"]["content"], answer
    return time.perf_counter() - begin


def check_programs(system):
    for program in PROGRAMS:
        system.run(f"{program} --help >/dev/null")
    _, lowered = system.run("kv-opt --kv-cpu attend.mlir")
    assert "llvm.func @kv_entry_attend" in lowered, lowered
    seconds, _ = system.run("kv-compile attend.mlir -o attend.so")
    _, said = system.run("python3 -c 'import kvmlir; print(*kvmlir.Manifest.read(\"attend.so\").entries)'")
    assert said == "attend\n", said
    return seconds


def size(folder):
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and not file.is_symlink())


def measure(name, system, wheel, table):
    bin = system.home / "venv/bin"
    site = next((system.home / "venv/lib").glob("python3*/site-packages"))
    install, _ = system.run(f"pip install --quiet --no-index --find-links wheels wheels/{wheel.name}")
    table.row(name, "pip install", install, "s")
    table.row(name, "on the disk", size(site / "kvmlir") / 1e6, "MB")
    assert {file.name for file in (site / "kvmlir/lib/cmake/KVMLIR").iterdir()} >= {
        "KVMLIRConfig.cmake", "KVMLIRRuntimeTargets.cmake", "KVMLIRCompilerTargets.cmake"}
    token = first_token(system)
    table.row(name, "first token of a GGUF file, imported and compiled", token, "s")
    table.row(name, "pip install to first token", install + token, "s", 60)
    table.row(name, "first token, the second time", first_token(system), "s")
    table.row(name, "first answer of a server", serve(system), "s")
    table.row(name, "compile an attention", check_programs(system), "s")
    system.run("pip uninstall --quiet --yes kvmlir")
    left = [path for path in (*site.iterdir(), *bin.iterdir()) if path.name.startswith(("kv-", "kvmlir"))]
    assert not left, left


def main():
    wheel = Path(sys.argv[1])
    table = Table()
    table.row("wheel", "size", wheel.stat().st_size / 1e6, "MB", 90)
    for name, (suite, python) in SYSTEMS.items():
        measure(name, System(suite, python, wheel), wheel, table)
    return table.write("wheel")


sys.exit(main())
