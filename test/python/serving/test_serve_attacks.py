"""kv-serve while one client attacks it: others are answered, its memory stays, and SIGTERM ends it."""

import os

import pytest

import attacks
import sigterm
from canary import watch, with_template
from serve_process import Serve, make_tiny

WORST = 0.5  # seconds; canary.py shows what it is on a machine that has nothing else to do


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_tiny(tmp_path_factory.mktemp("serve"))


@pytest.fixture(scope="module")
def server(folder):
    """It has nothing to say about any attack."""
    with Serve(with_template(folder, folder.parent / "attacked", attacks.EATER), "--max-batch", 64,
               "--shutdown-seconds", 1) as server:
        yield server
        assert server.is_idle() and server.end() == (0, "")


def resident(server):
    with open(f"/proc/{server.process.pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("attack", attacks.ATTACKS)
def test_others_are_answered(server, attack):
    """In one of five tries: other programs of the machine take its processors, too."""
    for _ in range(5):
        canary = watch(server.port, attack, 0.7)
        assert canary.failure is None
        assert resident(server) < 500e6  # large bodies are 256 MiB at most, and grow by an eighth
        if max(canary.worst.values()) < WORST:
            return
    pytest.fail(f"the longest times: {canary.worst}")


def test_sigterm_among_clients(folder):
    assert sigterm.lost(folder, rounds=2) == 0
