"""The Debian packages in a clean system of the release that built them: install, compile, run, build against them, remove.

Run by scripts/test-debian.sh, as root, with debootstrap: debian.py FOLDER, which has the packages."""

import json
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from clean_system import ROOT, System

COMPILED = ("kv-compile", "kv-lsp-server", "kv-opt", "kv-reduce", "kv-route", "kv-run")
SCRIPTS = ("kv-generate", "kv-import", "kv-serve", "kvmlir")
# What apt, dpkg and tools for groups keep for themselves, and what this test writes. Open MPI needs ibverbs-providers,
# which adds the group rdma.
ELSEWHERE = ("dev", "home", "proc", "run", "sys", "tmp", "var/cache", "var/lib", "var/log",
             "etc/group-", "etc/gshadow-", "etc/passwd-", "etc/shadow-")
REQUIREMENTS = "/usr/libexec/kv-mlir/kv-import/requirements.txt"
TOKENS = "5 6 7 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17".split()


def files(folder, root):
    """All files and folders below a folder of the system."""
    for path in folder.iterdir():
        name = str(path.relative_to(root))
        if name not in ELSEWHERE:
            yield name
            if path.is_dir() and not path.is_symlink():
                yield from files(path, root)


def check_programs(system):
    for program in COMPILED:
        system.run(f"{program} --help >/dev/null")
    for program in SCRIPTS:
        assert (system.root / "usr/bin" / program).resolve(strict=False).name == program
    said = system.fails("kv-import --help")
    assert said == f"kv-import: the Python package numpy is missing; pip install -r {REQUIREMENTS}\n", said
    _, installed = system.run("dpkg-query -W -f '${Package}\\n'")
    assert not [name for name in installed.split() if "llvm" in name or "mlir-22" in name], installed


def prepare_model(system):
    """A model that kv-import writes in the system, where pip installs what kv-import needs."""
    _, python = system.run("python3 -c 'import sys; print(*sys.version_info[:2], sep=chr(46))'")
    system.download(python.strip(), "-r", system.root / REQUIREMENTS[1:])
    system.run(f"python3 -m venv venv && pip install --quiet --no-index --find-links wheels -r {REQUIREMENTS}")
    subprocess.run([sys.executable, "-m", "kv_import.synthetic", "--kind", "llama3", "--gguf", system.home / "model.gguf"],
                   check=True, cwd=ROOT / "tools/kv-import")
    system.run("kv-import model.gguf -o model --page 16")


def check_model(system):
    """kv-run and a program in C, which is built against kv-mlir-dev, give the same tokens."""
    system.run("kv-compile model/model.mlir -o model/model.so")
    (system.home / "requests").write_text(json.dumps({"id": "a", "tokens": list(map(int, TOKENS)), "max_new_tokens": 24}))
    _, said = system.run("kv-run model/model.so --weights model/weights.safetensors --no-stream <requests")
    tokens = json.loads(said.splitlines()[0])["tokens"]
    shutil.copytree(ROOT / "test/install/c", system.home / "c")
    system.run("cmake -S c -B built && cmake --build built")
    _, said = system.run(f"built/generate model/model.so model/weights.safetensors 24 {' '.join(TOKENS)}")
    assert len(tokens) == 24 and said.split() == list(map(str, tokens)), (tokens, said)


def main():
    system = System(platform.freedesktop_os_release()["VERSION_CODENAME"], ("cmake", "gcc", "libc6-dev", "make"))
    system.run("apt-get update")
    before = set(files(system.root, system.root))
    shutil.copytree(sys.argv[1], system.home / "packages")
    seconds, _ = system.run("DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ./packages/*.deb")
    print(f"install: {seconds:.1f} s")
    check_programs(system)
    prepare_model(system)
    check_model(system)
    system.run("apt-get purge -y 'kv-mlir-*' && apt-get autoremove --purge -y")
    changed = before.symmetric_difference(files(system.root, system.root))
    assert not changed, f"installing and removing changed {sorted(changed)[:20]}"
    print("installed, used and removed without a trace:", *sorted(path.name for path in Path(sys.argv[1]).iterdir()))


main()
