#!/usr/bin/env python3
"""plant.py SOURCE OUTPUT: copies SOURCE/kernels/cuda with the mistakes of mistakes.py in it, one chosen at run time.

An expression becomes `(planted(Mistake::Name) ? (after) : (before))`, statements an `if`. A change that does not apply
exactly once is left out; Mistakes.inc says how often each applies, and a test that it is once.
"""

import re
import sys
from pathlib import Path

from mistakes import MISTAKES


def chosen(name: str, before: str, after: str, is_statement: bool) -> str:
    planted = f"kv::cuda::test::isPlanted(kv::cuda::test::Mistake::{name})"
    if "PLANTED" in after:
        return after.replace("// PLANTED", "").replace("PLANTED", planted)
    if is_statement:
        return f"{{ if ({planted}) {{ {after} }} else {{ {before} }} }}"
    return f"({planted} ? ({after}) : ({before}))"


def changed(text: str, changes: list[tuple[str, str, str]]) -> tuple[str, list[int]]:
    """The text with all changes, each where the text that was given has it, and how often that is."""
    counts, spans = [], {}
    for name, before, after in changes:
        found = list(re.finditer(r"\s+".join(map(re.escape, before.split())), text))
        counts.append(len(found))
        if len(found) == 1:
            # Lines keep their numbers.
            spans.setdefault(found[0].span(), []).append((name, after))
    last = len(text)
    for begin, end in sorted(spans, reverse=True):
        assert end <= last, f"two changes overlap: {text[begin:end]}"
        last = begin
        lines = text[begin:end].count("\n")
        new = " ".join(text[begin:end].split())
        is_statement = new.endswith(";")
        for name, after in spans[begin, end]:
            new = chosen(name, new, after, is_statement)
        text = text[:begin] + new + "\n" * lines + text[end:]
    return text, counts


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main() -> None:
    source, output = Path(sys.argv[1]), Path(sys.argv[2])
    changes: dict[str, list[tuple[str, str, str]]] = {}
    for name, patches in MISTAKES.items():
        for file, before, after in patches:
            changes.setdefault(file, []).append((name, before, after))
    rows = [f"KV_MISTAKE({name})" for name in MISTAKES]
    for path in sorted((source / "kernels/cuda").rglob("*.h")):
        relative = path.relative_to(source / "kernels/cuda").as_posix()
        own = changes.pop(relative, [])
        text, counts = changed(path.read_text(), own)
        head = f'#include "test/kernels/faults/Planted.h"\n#line 1 "kernels/cuda/{relative}"\n'
        write(output / "kernels/cuda" / relative, head + text)
        rows += [f'KV_CHANGE({name}, "{relative}", {count})' for (name, *_), count in zip(own, counts)]
    for file, own in changes.items():  # there is no such file
        rows += [f'KV_CHANGE({name}, "{file}", 0)' for name, *_ in own]
    write(output / "Mistakes.inc", "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
