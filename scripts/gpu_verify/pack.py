"""The folder that is carried to a machine with a GPU."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_BYTES = 64 << 20  # of everything that travels
TARGETS = ("gpu-verify", "kv-run", "kv-compile", "KVCuda", "KVCudaKernels", "KVVerifyKernels")
# What every Linux has in a version that suits; others are carried.
SYSTEM = ("linux-vdso", "libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "ld-linux")


def size(folder):
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


def needed(program):
    """The shared libraries of a program, but for the system's."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    for line in said.splitlines():
        name, arrow, rest = line.strip().partition(" => ")
        if arrow and not name.startswith(SYSTEM):
            yield Path(rest.split(" (")[0])


def copy_stripped(program, folder):
    """Without its symbols, a fifth of the bytes."""
    subprocess.run(["strip", "-o", folder / program.name, program], check=True)


def kernels(folder, build, left_out=()):
    """The program and its images of sm_80 and sm_90a: what two builds are compared by. No others, and
    no PTX: together they are two thirds of the bytes, and only other chips need them."""
    (folder / "bin").mkdir(parents=True)
    (folder / "lib").mkdir()
    copy_stripped(build / "bin/gpu-verify", folder / "bin")
    for images in ("kv-cuda", "kv-verify"):
        shutil.copytree(build / "lib" / images, folder / "lib" / images,
                        ignore=shutil.ignore_patterns("*.ptx", "*.sm_1*.cubin", *left_out))


def commit(root):
    said = subprocess.run(["git", "-C", root, "describe", "--always", "--dirty", "--abbrev=40",
                           "--exclude=*"], capture_output=True, text=True)
    return said.stdout.strip() or "unknown"


def pack(folder, build, other=None, models=True, few=False):
    """Exit status. `other`: a build to compare with; `few`: one model, for a rehearsal."""
    folder = Path(folder)
    if folder.exists() and any(folder.iterdir()):
        print(f"gpu-verify: {folder} is there and not empty", file=sys.stderr)
        return 2
    if build is None:
        build = ROOT / "build/release"
        subprocess.run(["cmake", "--preset", "release"], cwd=ROOT, check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", build, "--target", *TARGETS], check=True)
    build = Path(build).resolve()
    kernels(folder, build)
    copy_stripped(build / "bin/kv-run", folder / "bin")
    copy_stripped(build / "lib/libkv_cuda.so", folder / "lib")
    for program in (folder / "bin/kv-run", folder / "lib/libkv_cuda.so"):
        for library in needed(program):
            shutil.copy(library, folder / "lib")
    if other:
        # Of two whole sets there is no room for both chips; a visit is to a 9.0.
        kernels(folder / "b", Path(other).resolve(), left_out=("*.sm_80.cubin",))
    scripts = Path(__file__).resolve().parent
    shutil.copytree(scripts, folder / "gpu_verify", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("gpu-verify", "gpu-verify-peers.py"):
        shutil.copy(scripts.parent / name, folder)
    (folder / "commit").write_text(commit(ROOT) + "\n")
    if models:
        python = ROOT / ".venv/bin/python"
        subprocess.run([python if python.exists() else sys.executable, scripts / "tiny_models.py",
                        folder / "model", build, *(["few"] if few else [])], check=True,
                       stdout=subprocess.DEVNULL)
    bytes_ = size(folder)
    print(f"{folder}: {bytes_ / 2**20:.1f} MiB")
    if bytes_ > MOST_BYTES:
        print(f"gpu-verify: {folder} has {bytes_} bytes, more than the {MOST_BYTES} that may be "
              "carried", file=sys.stderr)
        return 1
    return 0


def missing(folder):
    """A sentence if `folder` was not made by pack()."""
    for name in ("bin/gpu-verify", "commit"):
        if not os.path.exists(Path(folder) / name):
            return f"{folder} was not made by gpu-verify --pack: it has no {name}"
    return None
