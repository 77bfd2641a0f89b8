"""The programs of examples/, by the commands of its README, each in a copy as a person makes one."""

import os
import shutil
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest

from test_documents import KV_OPT, KV_RUN, MODEL, execute
from tools import ROOT

PACKAGE = Path(os.environ.get("KV_PYTHON_PACKAGE") or ROOT / "build/release/python")
pytestmark = [pytest.mark.skipif(not (KV_OPT and KV_RUN), reason="kv-opt is not built"),
              pytest.mark.skipif(not (PACKAGE / "kvmlir").is_dir(), reason="the package kvmlir is not built")]
SVG = "{http://www.w3.org/2000/svg}"


def test_examples(tmp_path):
    folder = tmp_path / "work"
    shutil.copytree(ROOT / "examples", folder)
    if (ROOT / MODEL).exists():
        (folder / "models").mkdir()
        (folder / MODEL.replace("build/", "")).symlink_to(ROOT / MODEL)
    assert execute(ROOT / "examples/README.md", folder) == 6
    # The picture falls with the misses: as many points as capacities, none lower than the one before.
    picture = xml.parse(folder / "hits.svg").getroot()
    points = [tuple(map(float, point.split(","))) for point in picture.find(f"{SVG}polyline").get("points").split()]
    assert len(points) == 7 and points == sorted(points) and points[0][1] > points[-1][1] + 100
    heights = [y for _, y in points]
    assert heights == sorted(heights, reverse=True)


def test_examples_are_short():
    programs = [path for path in (ROOT / "examples").rglob("*") if path.suffix in (".cpp", ".py", ".mlir")]
    assert len(programs) >= 6
    assert [f"{path.name}: {len(path.read_text().splitlines())} lines" for path in programs
            if len(path.read_text().splitlines()) > 80] == []
