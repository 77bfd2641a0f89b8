"""The Markdown of the repository keeps to the rules that prose.py checks, and prose.py sees what breaks one."""

import pytest

import prose

GOOD = "The server has no authentication. Put a reverse proxy in front of it.\n"


def test_good_text():
    assert prose.check(GOOD + "```sh\nso many\n```\n[behind](behind.md) `nobody`\n") == [(5, '"behind": after')]
    assert prose.check(GOOD) == []


@pytest.mark.parametrize("text, says", [
    ("The page " + "is long " * 15 + ".", "a sentence of 32 words"),
    ("| one | " + "word " * 26 + "|", "a cell of 26 words"),
    ("It is wrong.", 'begins with "It"'),
    ("- What is wrong stays.", 'begins with "What"'),
    ("A warp copies a box a lane.", "one X per Y"),
    ("The tokens are equal in any company.", "else is in the batch"),
    ("A long sentence holds rather more words than any one reader of this page would want to read.\n\n" * 10, "average"),
])
def test_sees(text, says):
    assert any(says in what for _, what in prose.check(text))


COMMENTS = """// A row of the table.
int rows; // their number
/// It waits for no warp.
void wait();
// Weights of a tile: a scale a row.
url("http://host"); // What is left.
// This row names itself. Those of the tile do not.
"""


def test_sees_comments():
    found = prose.check_comments(COMMENTS)
    assert [line for line, _ in found] == [3, 5, 6, 7]
    assert ['"It"' in found[0][1], "one X per Y" in found[1][1], '"What"' in found[2][1], '"Those of"' in found[3][1]] == [True] * 4
