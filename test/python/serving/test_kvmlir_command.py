"""The command kvmlir: subcommands, and models that are imported and compiled when they are first used."""

import os
import signal
import subprocess
import sys
import time

import pytest
from kv_import import synthetic
from tools import ROOT, find

COMMAND = ROOT / "tools/kvmlir/kvmlir"
TEXT = ("--raw", "--temperature", "0", "--max-new-tokens", "4", "abc")


@pytest.fixture
def model(tmp_path):
    config = synthetic.make_config("llama")
    synthetic.write_gguf(tmp_path / "tiny.gguf", config, synthetic.make_weights(config))
    return tmp_path / "tiny.gguf"


@pytest.fixture
def command(tmp_path):
    """Starts the command with a cache of its own, and the programs of the build that is tested."""
    folders = [os.path.dirname(find(name)) for name in ("kv-run", "kv-compile")]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"),
                   "PATH": os.pathsep.join([*folders, os.environ["PATH"]])}

    def start(*arguments):
        return subprocess.Popen([sys.executable, COMMAND, *map(str, arguments)], env=environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)

    def run(*arguments):
        process = start(*arguments)
        out, err = process.communicate(timeout=100)
        return process.returncode, out, err
    run.start = start
    return run


def folders(tmp_path):
    return sorted(path.name for path in (tmp_path / "cache/kvmlir").iterdir() if path.is_dir() and path.name != "files")


def test_a_model_is_prepared_once(model, command, tmp_path):
    code, first, said = command("generate", model, *TEXT)
    assert code == 0 and "import" in said and "compile" in said, said
    code, second, said = command("generate", model, *TEXT)
    assert (code, second, said) == (0, first, "")
    # What it is made of and how decide, not where it lies.
    moved = tmp_path / "other" / model.name
    moved.parent.mkdir()
    model.rename(moved)
    assert command("generate", moved, *TEXT) == (0, first, "")
    code, _, said = command("generate", "--import=--page=16", "--compile=-O1", moved, *TEXT)
    assert code == 0 and "compile" in said and len(folders(tmp_path)) == 2
    config = synthetic.make_config("llama")
    synthetic.write_gguf(moved, config, synthetic.make_weights(config, seed=9))
    code, other, said = command("generate", moved, *TEXT)
    assert code == 0 and "compile" in said and len(folders(tmp_path)) == 3 and other != first


def test_two_that_start_at_once(model, command, tmp_path):
    both = [command.start("generate", model, *TEXT) for _ in range(2)]
    answers = [process.communicate(timeout=100) for process in both]
    assert [process.returncode for process in both] == [0, 0] and answers[0][0] == answers[1][0]
    assert "".join(said for _, said in answers).count("kept in") == 1 and len(folders(tmp_path)) == 1


def test_one_that_is_killed_leaves_no_model(model, command, tmp_path):
    process = command.start("generate", model, *TEXT)
    partial = tmp_path / "cache/kvmlir"
    while not list(partial.glob("*.partial/model.mlir")):
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert [name for name in folders(tmp_path) if not name.endswith(".partial")] == []
    code, _, said = command("generate", model, *TEXT)
    assert code == 0 and "kept in" in said and len(folders(tmp_path)) == 1


def test_what_is_refused(model, command, tmp_path):
    cases = {("fly",): "kvmlir: SUBCOMMAND: invalid choice: 'fly'",
             ("serve",): "kvmlir: a model is needed",
             ("generate", "--page=16", model): "kvmlir: --page is given before the model, allowed: --import=OPTION",
             ("generate", tmp_path / "none"): f"kvmlir: {tmp_path / 'none'}: no such file or folder"}
    for arguments, sentence in cases.items():
        code, out, said = command(*arguments)
        assert code in (1, 2) and out == "" and said.startswith(sentence) and said.count("\n") == 1, said
    model.write_bytes(model.read_bytes()[:100])
    code, out, said = command("generate", model, "abc")
    assert code == 1 and out == "" and f"kvmlir: import {model} has failed" in said and folders(tmp_path) == []
