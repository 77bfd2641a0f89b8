"""docs/explanation/data-way.svg is what scripts/picture.py draws from this code."""

import subprocess
import sys
import xml.etree.ElementTree as tree

import pytest

from tools import ROOT, find

KV_OPT = find("kv-opt")


@pytest.mark.skipif(not KV_OPT, reason="kv-opt is not built")
def test_picture_is_of_this_code():
    run = subprocess.run([sys.executable, ROOT / "scripts/picture.py", "--kv-opt", KV_OPT, "--check"],
                         capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    tree.parse(ROOT / "docs/explanation/data-way.svg")
