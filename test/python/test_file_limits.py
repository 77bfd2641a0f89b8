"""Files that may not grow, devices that are full and pipes: one sentence of kv-compile and kv-run, no signal."""

import os
import resource
import subprocess

import pytest

from kv_import import synthetic
from tools import KV_IMPORT, find, run


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    config = synthetic.make_config("llama")
    synthetic.write_hf(folder / "hf", config, synthetic.make_weights(config))
    assert run(KV_IMPORT, folder / "hf", "-o", folder, "--page", "16", "--dtype", "f32").returncode == 0
    subprocess.run([find("kv-compile"), "-O0", folder / "model.mlir", "-o", folder / "model.so"], check=True)
    return folder


def limited(kilobytes, *command, **more):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes * 1024, kilobytes * 1024))
        # What the child that dies of a signal would leave.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, preexec_fn=limit,
                          timeout=100, **more)


def one_error(done, status, begin, *reasons):
    assert done.returncode == status, done
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith(begin), done.stderr
    assert any(reason in lines[0] for reason in reasons), lines[0]


def test_kv_compile_beyond_the_limit(model, tmp_path):
    done = limited(10, find("kv-compile"), "-O0", model / "model.mlir", "-o", tmp_path / "m.so")
    one_error(done, 1, "kv-compile: error: cannot write ", ".o: File too large")
    assert not (tmp_path / "m.so").exists()


def test_kv_compile_on_a_full_device(model, tmp_path):
    full = tmp_path / "full.so"
    full.symlink_to("/dev/full")
    done = subprocess.run([find("kv-compile"), "-O0", model / "model.mlir", "-o", full], capture_output=True,
                          text=True)
    one_error(done, 1, f"kv-compile: error: ld.lld could not write {full}: ", "No space left on device")


def test_kv_run_whose_disk_may_not_grow(model, tmp_path):
    command = (find("kv-run"), model / "model.so", "--weights", model / "weights.safetensors")
    request = '{"id": "a", "tokens": [%s], "max_new_tokens": 2}\n' % ", ".join(map(str, range(100)))
    expected = subprocess.run([str(part) for part in command], capture_output=True, text=True, input=request)
    for kilobytes in (4, 100, 500):
        done = limited(kilobytes, *command, "--disk-dir", tmp_path / str(kilobytes), "--host-pages", "4",
                       input=request)
        # The disk is left out or refused; a signal would be a negative status.
        if done.returncode == 0:
            tokens = [line for line in done.stdout.splitlines() if '"token":' in line]
            assert tokens == [line for line in expected.stdout.splitlines() if '"token":' in line]
        else:
            # LMDB says of a write that was cut short that there is no space.
            one_error(done, 2, "kv-run: error: ", "File too large", "No space left on device")


@pytest.mark.parametrize("kind", ("weights", "artifact"))
def test_pipes(model, tmp_path, kind):
    os.mkfifo(tmp_path / "pipe")
    files = {"artifact": model / "model.so", "weights": model / "weights.safetensors", kind: tmp_path / "pipe"}
    done = subprocess.run([find("kv-run"), files["artifact"], "--weights", files["weights"]], capture_output=True,
                          text=True, input="", timeout=60)
    one_error(done, 2, "kv-run: error: ", "pipe: not a regular file")
