"""Model folders that are made once: of a model's bytes, the options and the version."""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from kv_command_line import version

from .programs import CommandFailure, find


def note(sentence, end="\n"):
    print(f"kvmlir: {sentence}", end=end, file=sys.stderr, flush=True)


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME", "")
    # A relative one is to be ignored, says the XDG specification.
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "kvmlir"


def _files(model):
    """What a model is made of: a file and the other parts of it, or a folder's files."""
    if model.is_dir():
        return sorted(path for path in model.iterdir() if path.is_file())
    head, middle, tail = model.name.rpartition("-00001-of-")
    return sorted(model.parent.glob(f"{head}-*-of-{tail}")) if middle else [model]


def _hash(path, known):
    """The SHA-256 of a file. `known`: the folder of those of files that have not changed since."""
    facts = path.stat()
    stamp = json.dumps([str(path.resolve()), facts.st_size, facts.st_mtime_ns, facts.st_ino])
    entry = known / hashlib.sha256(stamp.encode()).hexdigest()
    with contextlib.suppress(OSError):
        if len(text := entry.read_text()) == 64:
            return text
    with open(path, "rb") as file:
        text = hashlib.file_digest(file, "sha256").hexdigest()
    partial = entry.with_suffix(f".{os.getpid()}")
    partial.write_text(text)
    partial.replace(entry)
    return text


def _processor():
    """What kv-compile's --mcpu=native depends on: a home may be shared by machines."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        return next((line for line in file if line.startswith("flags")), "")
    return ""


def _run(what, command):
    """A step; its output goes to standard error, for standard output is the answer's."""
    note(f"{what} ...")
    begin = time.monotonic()
    done = subprocess.run(command, stdout=sys.stderr)
    if done.returncode:
        raise CommandFailure(f"{what} has failed")
    note(f"{what}: {time.monotonic() - begin:.1f} s")


@contextlib.contextmanager
def _locked(path):
    """One process at a time; the system unlocks for one that ends."""
    with open(path, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            note("another process prepares this model, waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _make(model, folder, importing, compiling):
    """The folder appears complete, or not at all."""
    partial = folder.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)  # of a process that was killed
    _run(f"import {model}", [*find("kv-import"), str(model), "-o", str(partial), *importing])
    _run("compile", [*find("kv-compile"), str(partial / "model.mlir"), "-o", str(partial / "model.so"), *compiling])
    for path in partial.iterdir():
        with open(path, "rb") as file:
            os.fsync(file.fileno())
    partial.rename(folder)


def prepare(model, importing, compiling):
    """The model folder of a file or of a folder that kv-import takes."""
    model = Path(model)
    if (model / "model.so").is_file():
        return model
    if not model.exists():
        raise CommandFailure(f"{model}: no such file or folder; a GGUF file, a Hugging Face folder or a model folder "
                             "is needed")
    known = cache_folder() / "files"
    known.mkdir(parents=True, exist_ok=True)
    hashes = [[path.name, _hash(path, known)] for path in _files(model)]
    # The name is the model's own in answers, so the file's name counts, too.
    key = json.dumps([version(), model.name, hashes, importing, compiling, _processor()])
    folder = cache_folder() / f"{model.stem}-{hashlib.sha256(key.encode()).hexdigest()[:16]}"
    if not folder.is_dir():
        with _locked(folder.with_suffix(".lock")):
            if not folder.is_dir():
                _make(model, folder, importing, compiling)
                note(f"kept in {folder}")
    return folder
