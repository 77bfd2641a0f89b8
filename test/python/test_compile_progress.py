"""kv-compile on a terminal: what a module needs, and what is worked on, in a line that is written anew."""

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

import pytest

from kv_import import synthetic
from tools import KV_IMPORT, QUICK, ROOT, find, run

KV_COMPILE = find("kv-compile")
pytestmark = pytest.mark.skipif(not KV_COMPILE, reason="kv-compile is not built")
ANEW = "\r\033[K"
NEEDS = re.compile(r".* needs (?P<disk>[\d.]+ MB) of disk.*, and (?P<cache>[\d.]+ MB of cache per 1,000 tokens"
                   r"( and [\d.]+ MB per sequence)? \(.*\))\r?\n")


def on_terminal(*arguments, columns=100):
    """(Exit status, what kv-compile writes to its standard error, a terminal of so many columns)."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
    process = subprocess.Popen([KV_COMPILE, *map(str, arguments)], stderr=its)
    os.close(its)
    parts = []
    with contextlib.suppress(OSError):  # the terminal is closed
        while part := os.read(ours, 1 << 16):
            parts.append(part)
    os.close(ours)
    return process.wait(), b"".join(parts).decode()


def shown(text):
    """[(stage, number, all, what)] of the lines that are written anew."""
    lines = re.findall(re.escape(ANEW) + r"kv-compile: (\w+) (\d+) of (\d+): ([^\r]+)", text)
    return [(stage, int(number), int(count), what) for stage, number, count, what in lines]


def imported(folder, kind, *options):
    """(The module, what kv-import says that it needs.)"""
    config = synthetic.make_config(kind)
    synthetic.write_hf(folder / "hf", config, synthetic.make_weights(config))
    done = run(KV_IMPORT, folder / "hf", "-o", folder / "model", *options)
    assert done.returncode == 0, done.stderr
    return folder / "model/model.mlir", NEEDS.search(done.stdout).groupdict()


@pytest.mark.parametrize("kind, options", (
    ("mixed", ("--dtype", "f32")), ("llama", ("--weights", "q4_0")), ("qwen3_next", ("--page", "16")),
    ("deepseek_v2", ("--cache", "f16"))))
def test_needs(tmp_path, kind, options):
    """As much as kv-import says, from the module alone."""
    module, needs = imported(tmp_path, kind, *options)
    status, text = on_terminal(module, QUICK, "-o", tmp_path / "m.so")
    assert status == 0, text
    assert NEEDS.match(text).groupdict() == needs


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    return imported(tmp_path_factory.mktemp("progress"), "llama")[0]


def test_progress(module, tmp_path):
    status, text = on_terminal(module, "-o", tmp_path / "m.so")
    assert status == 0 and text.endswith(ANEW), text
    lines = shown(text)
    for stage in ("passes", "optimize"):
        numbers = [(number, count) for name, number, count, _ in lines if name == stage]
        assert numbers == sorted(numbers) and len({count for _, count in numbers}) == 1
        assert numbers[0][0] == 1 and len(numbers) > 20 and numbers[-1][0] <= numbers[-1][1]
    number, count = [(number, count) for name, number, count, _ in lines if name == "passes"][-1]
    assert number == count
    assert ("passes", "kv-vectorize") in {(stage, what) for stage, _, _, what in lines}
    assert ("optimize", "kv_entry_forward") in {(stage, what) for stage, _, _, what in lines}
    assert f"{ANEW}kv-compile: emit{ANEW}" in text
    # Who writes to a file sees nothing of it, and the artifact is the same.
    quiet = subprocess.run([KV_COMPILE, module, "-o", tmp_path / "quiet.so"], capture_output=True)
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, b"", b"")
    assert (tmp_path / "quiet.so").read_bytes() == (tmp_path / "m.so").read_bytes()


def test_narrow_terminal(module, tmp_path):
    _, text = on_terminal(module, QUICK, "-o", tmp_path / "m.so", columns=30)
    lines = re.findall(re.escape(ANEW) + "([^\r\n]+)", text)
    assert max(map(len, lines)) == 29


def test_other_lines_begin_anew(module, tmp_path):
    """Times and errors do not go on in the line."""
    _, text = on_terminal(module, QUICK, "--timing", "-o", tmp_path / "m.so")
    for stage in ("passes", "translate", "optimize", "emit"):
        assert re.search(rf"(\n|{re.escape(ANEW)})kv-compile: {stage} +[\d.]+ s\r\n", text), text
    wrong = tmp_path / "wrong.mlir"
    wrong.write_text(module.read_text().replace("kv.entry", "kv.other"))
    status, text = on_terminal(wrong, QUICK, "-o", tmp_path / "m.so")
    colour = r"(\033\[[\d;]*m)*"
    assert status == 1 and re.search(rf"{re.escape(ANEW)}{colour}{re.escape(str(wrong))}:\S* {colour}error: ", text), text


def test_raise(tmp_path):
    status, text = on_terminal("--raise", QUICK, ROOT / "test/passes/raise/raise.mlir", "-o", tmp_path / "m.so")
    assert status == 0 and shown(text)[0][:2] == ("raise", 1), text
    assert {stage for stage, *_ in shown(text)} >= {"raise", "passes"}
