"""docs/reference/glossary.md: one row a word, and what it names in the code is there."""

import re

from tools import ROOT

FOLDERS = ("include", "dialect", "passes", "lib", "runtime", "kernels", "python")
SUFFIXES = {".h", ".cpp", ".td", ".def", ".py"}


def rows():
    for line in (ROOT / "docs/reference/glossary.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("| **"):
            word, meaning, code = (cell.strip() for cell in line.strip("|").split(" | "))
            yield re.findall(r"\*\*(.+?)\*\*", word), meaning, re.findall(r"`([^`]+)`", code)


def test_a_word_has_one_row():
    words = [word for row, _, _ in rows() for part in row for word in part.split(", ")]
    assert len(words) > 50
    assert sorted(words) == sorted(set(words))


def test_the_code_has_what_is_named():
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES]
    identifiers = set(re.findall(r"\w+", "\n".join(path.read_text(encoding="utf-8") for path in files)))
    paths = {str(path.relative_to(ROOT)) for path in files}
    for words, _, names in rows():
        for name in names:
            if "/" in name:
                assert any(path.endswith(name) for path in paths), f"{words}: no file {name}"
            else:
                missing = [part for part in re.findall(r"\w+", name) if part not in identifiers]
                assert not missing, f"{words}: nothing is called {name}"
