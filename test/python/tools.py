"""The tools as a user runs them: processes."""

import contextlib
import functools
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KV_IMPORT = ROOT / "tools/kv-import/kv-import"
KV_GENERATE = ROOT / "tools/kv-generate/kv-generate"
# An option of kv-compile for all but some of many variants: without LLVM's optimisation, which is most
# of what compiling costs. What is computed has the same bits at every level.
QUICK = "-O0"


def of_pipeline(name, quick=False):
    """kv-compile's options for a pipeline: kv-reference, by which nobody serves, is always compiled quickly."""
    return (f"--pipeline={name}", *((QUICK,) if quick or name == "kv-reference" else ()))


def open_own(request, timeout):
    """urlopen() of an address of this machine: without the proxy that environment variables may name."""
    return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=timeout)


def run(tool, *arguments, **more):
    return subprocess.run([sys.executable, str(tool), *map(str, arguments)], text=True,
                          capture_output=True, timeout=120, **more)


def fails(tool, *arguments, **more):
    """The one sentence of a run that must fail with exit status 1."""
    done = run(tool, *arguments, **more)
    assert done.returncode == 1, done
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and "Traceback" not in done.stderr, done.stderr
    return lines[0]


def quietly(main, *arguments):
    """(Exit status, standard output, standard error) of a tool's main function, in this process: most of what a
    process takes is to begin."""
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        status = main([str(each) for each in arguments])
    return status, out.getvalue(), error.getvalue()


def manifest(artifact):
    """The manifest of an artifact, as other tools see it: a section of an ELF file."""
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run(["objcopy", f"--dump-section=.kv.manifest={file.name}", artifact, "/dev/null"],
                       check=True)
        return json.loads(Path(file.name).read_text().rstrip("\0"))


def pinned_environment(requirements, folder):
    """The interpreter of an environment in `folder` with the packages that the file `requirements` pins."""
    python, wanted, done = folder / "bin/python", requirements.read_text(), folder / "requirements.txt"
    if not done.exists() or done.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements],
                       check=True)
        done.write_text(wanted)
    return python


def find(name, *places):
    """A built program: named by an environment variable (KV_RUN for kv-run), in build/release,
    in PATH or in one of the places; None when there is none."""
    variable = name.upper().replace("-", "_")
    for path in (os.environ.get(variable), ROOT / "build/release/bin" / name, shutil.which(name),
                 *places):
        if path and os.access(path, os.X_OK):
            return str(path)
    return None


@functools.cache
def _artifacts():
    return tempfile.TemporaryDirectory(prefix="kv-artifacts-")


def artifact_folder():
    """A folder for an artifact that is there until the process ends: what is loaded stays as it is."""
    return Path(tempfile.mkdtemp(dir=_artifacts().name))


@functools.cache
def compiled(text, *options):
    """The artifact of a module's text by kv-compile with these options, made once a process."""
    folder = artifact_folder()
    (folder / "m.mlir").write_text(text)
    subprocess.run([find("kv-compile"), *options, folder / "m.mlir", "-o", folder / "m.so"], check=True)
    return folder / "m.so"
