"""Stop strings of kv-serve, whatever pieces a text comes in."""

import random

from kv_serve.stop_strings import StopStrings


def given_out(pieces, stops):
    """(text, whether it was stopped), and never more than is certain."""
    own, out = StopStrings(stops), ""
    for piece in pieces:
        text, stopped = own.push(piece)
        out += text
        if stopped:
            return out, True
    return out + own.finish(), False


def test_random_texts():
    """As if the text were there at once: it ends where the first stop string begins."""
    draw = random.Random(3)
    stopped = 0
    for _ in range(3000):
        text = "".join(draw.choices("ab東", k=draw.randrange(30)))
        stops = ["".join(draw.choices("ab東", k=draw.randrange(1, 5))) for _ in range(draw.randrange(4))]
        cuts = sorted(draw.choices(range(len(text) + 1), k=draw.randrange(12)))
        pieces = [text[i:j] for i, j in zip([0, *cuts], [*cuts, len(text)])]
        # Where two stop strings are there, the one that is complete first ends the text.
        ends = [text.index(stop) + len(stop) for stop in stops if stop in text]
        seen = text[:next(end for end in [*cuts, len(text)] if end >= min(ends))] if ends else text
        want = seen[:min(seen.index(stop) for stop in stops if stop in seen)] if ends else text
        assert given_out(pieces, stops) == (want, bool(ends)), (pieces, stops)
        stopped += bool(ends)
    assert 500 < stopped < 2500


def test_text_is_held_no_longer_than_needed():
    own = StopStrings(["END"])
    assert [own.push(piece)[0] for piece in ("abE", "N", "x", "E", "ND", "more")][:4] == ["ab", "", "ENx", ""]
    own = StopStrings([])
    assert own.push("abc") == ("abc", False)
