#!/usr/bin/env python3
"""Makes what repeats the rows of include/kv/ABI/ManagerOptions.def and ServerOptions.def.

options.py          writes the structures of the C headers
options.py FILE     writes the Python module kvmlir.options, as the build does

The site has tables of the rows (tables()). test/python/test_documents.py fails where a header is older than the
rows."""

import ast
import inspect
import re
import sys
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
HEADERS = {"Manager": ROOT / "include/kv/Runtime/C/Managers.h", "Server": ROOT / "include/kv/Runtime/C/Serving.h"}
# Parameters of managers in MAX: the classes of kvmlir have them in their signatures.
PARAMETERS = ("devices", "max_batch_size", "max_seq_len", "num_pages", "available_cache_memory", "zmq_endpoint_base",
              "enable_runtime_checks")
VALUES = {"INT32_MAX": 2**31 - 1, "INT64_MAX": 2**63 - 1, "UINT64_MAX": 2**64 - 1, "INT64_C": int}


class Option(NamedTuple):
    """A keyword. kind: "number", "count" (a number of which 0 is refused), "switch", "text", "choice" or "other".
    range: the least and the largest number, or the names of a choice. flag: of kv-run and kv-serve. needs: the keyword
    without which it is of no use. field: in C. annotation: in Python."""

    name: str
    kind: str
    default: Any
    range: tuple[Any, ...]
    flag: str
    needs: str
    sentence: str
    field: str
    annotation: str


def words(option):
    """What it is, and which numbers are allowed."""
    if option.kind not in ("number", "count"):
        return option.sentence
    least, most = option.range
    limits = f"{least} to {most}" if most < 2**63 - 1 else f"{least} or more"
    return f"{option.sentence} ({limits}" + (f"; default: {option.default})" if option.default else ")")


def snake(name):
    return re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), name)


def read_row(call):
    # A name that is no value stands for itself.
    kind, name, *rest = [node.id if isinstance(node, ast.Name) and node.id not in VALUES else
                         ast.unparse(node) if isinstance(node, ast.Attribute) else
                         eval(compile(ast.Expression(node), "row", "eval"), VALUES) for node in call.args]
    if kind == "OTHER":
        field, keyword, sentence = rest
        annotation, default = keyword.split(" = ")
        return Option(snake(name), "other", ast.literal_eval(default), (), "", "", sentence, field, annotation)
    number = kind in ("NUMBER", "COUNT")
    *before, flag, needs, sentence = rest
    ctype = before.pop(0) if number else "const char *" if kind == "TEXT" else "int32_t"
    default = before.pop(1) if number else False if kind == "SWITCH" else None
    return Option(snake(name), kind.lower(), default, tuple(before[1:]), flag and f"--{flag}",
                  "" if needs == "nothing" else snake(needs), sentence, f"{ctype} {name};".replace("* ", "*"),
                  "int" if number else "bool" if kind == "SWITCH" else "Optional[str]")


def read(table):
    text = (ROOT / f"include/kv/ABI/{table}Options.def").read_text()
    return [read_row(node.value) for node in ast.parse(re.sub("^(//|#).*", "", text, flags=re.M)).body]


def header(table):
    """The header with the fields of its structure."""
    fields = ""
    for one in read(table):
        comment = f"/* {one.sentence[0].upper()}{words(one)[1:]}.\0*/"
        fields += textwrap.fill(comment, 79, initial_indent="  ", subsequent_indent="     ") + f"\n  {one.field}\n"
    return re.sub(rf"(?<=struct Kv{table}Options {{\n).*(?=}} Kv{table}Options;)", lambda _: fields.replace("\0", " "),
                  HEADERS[table].read_text(), flags=re.S)


def tables():
    """The tables of docs/reference/options.md, for the site."""
    text = ""
    for table in HEADERS:
        text += f"\n## {table}\n\n| in C | in Python | flag | what it is |\n| --- | --- | --- | --- |\n"
        for one in read(table):
            name = re.search(r"(\w+)(\)\(.*)?;", one.field)[1]
            needs = f"; needs `{one.needs}`" if one.needs else ""
            text += f"| `{name}` | `{one.name}` | {one.flag and f'`{one.flag}`'} | {words(one)}{needs} |\n"
    return text


def module():
    """kvmlir.options."""
    text = ('"""The options of managers and servers, by scripts/options.py."""\n\n'
            "from collections.abc import Callable, Sequence\n"
            "from typing import Any, NamedTuple, Optional, TypedDict\n\n\n" + inspect.getsource(Option))
    for table in HEADERS:
        own = [one for one in read(table) if one.name not in PARAMETERS]
        lines = [textwrap.fill(f"{one.name}: {words(one)}.", 100, initial_indent="    ", subsequent_indent="        ")
                 for one in own]
        text += f'\n\nclass {table}Options(TypedDict, total=False):\n    """Keywords.\n\n' + "\n".join(lines)
        text += '"""\n\n'
        text += "".join(f"    {one.name}: {one.annotation}\n" for one in own)
        text += f"\n\n{table.upper()} = [\n" + "".join(f"    {one!r},\n" for one in read(table)) + "]\n"
    return text


def outputs():
    """{path: text} of what is stored in the repository."""
    return {path: header(table) for table, path in HEADERS.items()}


if __name__ == "__main__":
    for path, text in {Path(sys.argv[1]): module()}.items() if sys.argv[1:] else outputs().items():
        path.write_text(text)
