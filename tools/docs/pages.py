"""Markers of the pages of docs/: lines such as

    [options](../../include/kv/ABI/ManagerOptions.def) <!-- made: options -->

A repository browser shows the link, which is to the source. The site has what expand() puts in the line's place."""

import re
import shlex
from pathlib import Path

import records
import reference

ROOT = Path(__file__).resolve().parents[2]
MARKER = re.compile(r"^\[[^\]]+\]\(([^)]+)\) <!-- made: (.+?) -->$", re.M)


class Problem(Exception):
    """A marker that cannot be followed."""


# Each takes the words after its name. A word NAME=VALUE is a keyword.
MAKERS = {
    "record": records.table,
    "machine": records.machine,
    "options": reference.options,
    "models": reference.models,
    "functions": reference.functions,
    "metrics": reference.metrics,
    "request_metrics": reference.request_metrics,
    "status": reference.status,
    "predictions": reference.predictions,
    "instructions": reference.instructions,
    "tablegen": reference.tablegen,
}


def made(words, where):
    name, *rest = shlex.split(words)
    keywords = dict(word.split("=", 1) for word in rest if re.match(r"\w+=", word))
    try:
        return MAKERS[name](*(word for word in rest if not re.match(r"\w+=", word)), **keywords)
    except (KeyError, OSError, TypeError, ValueError) as error:
        raise Problem(f"{where}: 'made: {words}': {type(error).__name__}: {error}; allowed names: "
                      f"{', '.join(MAKERS)}") from error


def expand(text, path):
    """`text`, which is that of the file `path`, with everything that its markers stand for."""
    def replaced(match):
        source = (path.parent / match[1]).resolve()
        if not source.exists():
            raise Problem(f"{path}: a marker names {match[1]}, which is not there")
        return made(match[2], path).strip()
    text = MARKER.sub(replaced, text)
    if left := re.search(r"^[^`\n]*<!-- made:.*", text, re.M):
        raise Problem(f"{path}: '{left[0]}' is no line of the form [TEXT](SOURCE) <!-- made: NAME -->")
    return text
