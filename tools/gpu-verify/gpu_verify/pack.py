"""The folder that is carried to a machine with a GPU."""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
MOST_BYTES = 64 << 20  # of everything that travels
MOST_BYTES_OF_HOPPER = 40 << 20
TARGETS = ("gpu-verify", "kv-run", "kv-compile", "KVCuda", "KVCudaKernels", "KVVerifyKernels")
# Images with a watchdog are built for such a folder alone.
WATCHED = ("KVCudaWatchdogKernels", "KVVerifyWatchdogKernels")
HOPPER = ("sm_90a",)
IMAGES = ("kv-cuda", "kv-verify", "kv-cuda-watchdog", "kv-verify-watchdog")
# Machine code, and the PTX that drivers translate for what has none.
CHIPS = {"sm_80": "cubin", "sm_90a": "cubin", "sm_100a": "cubin", "sm_120": "cubin",
         "compute_80": "ptx"}
# What travels in an archive, a sixth of its bytes, until the first command.
ARCHIVE = "contents.tar.xz"
ARCHIVED = (*(f"lib/{images}" for images in IMAGES), "b", "model")
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


def kernels(folder, build, chips):
    """The program and its images of these chips: what two builds are compared by."""
    (folder / "bin").mkdir(parents=True)
    copy_stripped(build / "bin/gpu-verify", folder / "bin")
    for images in IMAGES:
        if not (build / "lib" / images).exists():
            continue
        (folder / "lib" / images).mkdir(parents=True)
        for chip in chips:
            for path in (build / "lib" / images).glob(f"*.{chip}.{CHIPS[chip]}"):
                shutil.copy(path, folder / "lib" / images)


def archive(folder):
    with tarfile.open(folder / ARCHIVE, "w:xz", preset=1) as made:
        for name in ARCHIVED:
            if (folder / name).exists():
                made.add(folder / name, name)
                shutil.rmtree(folder / name)


def unpack(folder):
    """What came in an archive, instead of what another one left there. A command that is cut off
    meanwhile leaves the archive to the next one."""
    folder = Path(folder)
    if not (folder / ARCHIVE).exists():
        return
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        with tarfile.open(folder / ARCHIVE) as came:
            came.extractall(scratch)
        for name in ARCHIVED:
            shutil.rmtree(folder / name, ignore_errors=True)
            if (Path(scratch) / name).exists():
                os.rename(Path(scratch) / name, folder / name)
    (folder / ARCHIVE).unlink()


def unknown(chips):
    """A sentence if there are no kernels for one of them."""
    return next((f"there are no kernels for {chip}, but for {', '.join(CHIPS)}"
                 for chip in chips if chip not in CHIPS), None)


def lacking(build, chips):
    """A sentence if one of them was left out of the build."""
    return next((f"{build} has no kernels for {chip}" for chip in chips
                 if not (build / f"lib/kv-cuda/kv_movers.{chip}.{CHIPS[chip]}").exists()), None)


def refuse(sentence):
    print(f"gpu-verify: {sentence}", file=sys.stderr)
    return 2


def commit(root):
    said = subprocess.run(["git", "-C", root, "describe", "--always", "--dirty", "--abbrev=40",
                           "--exclude=*"], capture_output=True, text=True)
    return said.stdout.strip() or "unknown"


def make(preset):
    """The build folder of a preset, with what a folder takes of it and no more."""
    build = ROOT / "build" / preset
    subprocess.run(["cmake", "--preset", preset], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    known = subprocess.run(["cmake", "--build", build, "--target", "help"], check=True,
                           capture_output=True, text=True).stdout
    targets = [*TARGETS, *(target for target in WATCHED if f"{target}:" in known)]
    subprocess.run(["cmake", "--build", build, "--target", *targets], check=True)
    return build


def pack(folder, build, chips=tuple(CHIPS), other=None, models=True, few=False, hopper=False):
    """Exit status. `other`: a build to compare with; `few`: one model, for a rehearsal; `hopper`: for
    an H100 or H200 alone."""
    folder = Path(folder)
    if hopper:
        chips = HOPPER
    if problem := unknown(chips):
        return refuse(problem)
    if folder.exists() and any(folder.iterdir()):
        return refuse(f"{folder} is there and not empty")
    if build is None:
        build = make("visit-hopper" if hopper else "release")
    build = Path(build).resolve()
    compiled = [chip for chip in chips if CHIPS[chip] == "cubin"]
    builds = [build, *([Path(other).resolve()] if other else [])]
    for each in builds:
        if problem := lacking(each, chips):
            return refuse(problem)
    for place, each in zip((folder, folder / "b"), builds):
        kernels(place, each, chips)
    copy_stripped(build / "bin/kv-run", folder / "bin")
    copy_stripped(build / "lib/libkv_cuda.so", folder / "lib")
    for program in (folder / "bin/kv-run", folder / "lib/libkv_cuda.so"):
        for library in needed(program):
            shutil.copy(library, folder / "lib")
    scripts = Path(__file__).resolve().parent
    shutil.copytree(scripts, folder / "gpu_verify", ignore=shutil.ignore_patterns("__pycache__", "README.md"))
    for name in ("gpu-verify", "gpu-verify-peers.py"):
        shutil.copy(scripts.parent / name, folder)
    (folder / "commit").write_text(commit(ROOT) + "\n")
    if models:
        python = ROOT / ".venv/bin/python"
        subprocess.run([python if python.exists() else sys.executable, scripts / "tiny_models.py",
                        folder / "model", build, ",".join(compiled) or "sm_80",  # and PTX
                        *(["few"] if few else [])], check=True,
                       stdout=subprocess.DEVNULL)
    archive(folder)
    bytes_ = size(folder)
    print(f"{folder}: {bytes_ / 2**20:.1f} MiB")
    most = MOST_BYTES_OF_HOPPER if hopper else MOST_BYTES
    if bytes_ > most:
        print(f"gpu-verify: {folder} has {bytes_} bytes, more than the {most} that may be "
              "carried", file=sys.stderr)
        return 1
    return 0


def missing(folder):
    """A sentence if `folder` was not made by pack()."""
    for name in ("bin/gpu-verify", "commit"):
        if not os.path.exists(Path(folder) / name):
            return f"{folder} was not made by gpu-verify --pack: it has no {name}"
    return None
