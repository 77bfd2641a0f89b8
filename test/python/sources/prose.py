"""prose.py [--words | --comments] [FILE...]: what the Markdown of the repository does that prose should not do.

A sentence has at most 30 words, those of a page 16 on average; a table's cell has at most 25; no sentence begins with a
pronoun whose noun stands elsewhere; no phrase of BANNED is used. Code and links' targets do not count. Without files:
all of them. --words: the number of words that people wrote. --comments: reads `//` comments of C++ and TableGen.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
LONGEST, AVERAGE, CELL = 30, 16, 25

# Pattern, and what to say instead.
BANNED = {
    r"in any company|in company": "whatever else is in the batch",
    r"so many": "the number",
    r"what is more of": "the number by which",
    r"under way": "in flight",
    r"\bnobody\b": "name what does not",
    r"\bwhoever\b": "name who",
    r"\bbehind (?!a (?:reverse )?proxy)": "after",
    r"\bbeside\b": "compared with, next to",
    r"\bthe former|the latter\b": "name the thing",
    r"\b(?:one|a) (?:\w+ )?(?:lane|row|token|page|box|thread|warp|request|step|leaf|layer|head|key) a "
    r"(?:lane|row|token|page|box|thread|warp|request|step|leaf|layer|head|key)\b": "one X per Y",
    r"\bas ever\b": "as before",
    r"\blikewise\b|\bthe same of\b": "say it",
}
PRONOUNS = re.compile(r"(?:It|They|Those|These|This|That|What|So many|Such|Both|Else)\b(?! (?:page|is why))")
# "This row is" names a row; "this is" leans on a line before it.
LEANS = re.compile(r"(?:It|They|Theirs|What|So many|The same of|And|Or|Else|Also|Otherwise)\b|(?:This|That|These|Those|Such|"
                   r"Both)(?:[,:;]| (?:is|are|was|has|have|can|may|must|of|that|which|with|by|in|on|at|for)\b)")
PER = r"\b(?:an?|one) [a-z]+ an? (?:row|token|page|thread|warp|request|step|leaf|head|lane|block|group|launch|tile)\b"


def tracked(patterns: tuple = ("*.md",)) -> list[Path]:
    names = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, text=True, check=True, capture_output=True).stdout
    return [ROOT / name for name in names.split()]


def plain(text: str) -> str:
    """Text without what is no prose: a link is its words, code a single word."""
    text = re.sub(r"<!--.*?-->|!\[[^\]]*\]\([^)]*\)", "", text, flags=re.S)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"`[^`]*`", "CODE", text)


def words(text: str) -> int:
    return len(re.findall(r"[^\W_]+(?:['’.,-][^\W_]+)*", text))


def blocks(page: str):
    """(line, kind, text) of a page: paragraphs and list items as "text", rows of tables as "row"."""
    number, collected, start, fenced = 0, [], 1, False

    def flush():
        if collected:
            yield start, "text", plain(" ".join(collected))
            collected.clear()

    for number, line in enumerate(page.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            yield from flush()
        elif fenced or line.startswith("    ") and not collected or re.fullmatch(r"\s*(?:\|[-| :]+\||-{3,}|)", line):
            yield from flush()
        elif line.startswith("|"):
            yield from flush()
            yield number, "row", plain(line)
        elif line.startswith("#"):
            yield from flush()
        else:
            if re.match(r"\s*(?:[-*]|\d+\.) ", line):
                yield from flush()
                line = re.sub(r"^\s*(?:[-*]|\d+\.) ", "", line)
            if not collected:
                start = number
            collected.append(line.strip().replace("**", ""))
    yield from flush()


def sentences(text: str) -> list[str]:
    return [part for part in re.split(r"(?<=[.!?:;])\s+(?=[A-Z0-9(\[\"“])|(?<=[a-z)]:)\s+", text) if words(part)]


def faults(line: int, text: str, phrases: dict, pronouns: re.Pattern):
    """(line, what) of each phrase and of each sentence of a text that breaks a rule."""
    for pattern, instead in phrases.items():
        if match := re.search(pattern, text, re.I):
            yield line, f'"{match[0].strip()}": {instead}'
    for sentence in sentences(text):
        if words(sentence) > LONGEST:
            yield line, f"a sentence of {words(sentence)} words, at most {LONGEST}: {sentence[:60]}…"
        if match := pronouns.match(sentence):
            yield line, f'begins with "{match[0]}", name the thing: {sentence[:60]}…'


def check(page: str) -> list[tuple[int, str]]:
    """(line, what) of each violation."""
    found, lengths = [], []
    for line, kind, text in blocks(page):
        found += [fault for fault in faults(line, text, BANNED, PRONOUNS) if kind == "text" or fault[1].startswith('"')]
        if kind == "row":
            found += [(line, f"a cell of {words(cell)} words, at most {CELL}: {cell.strip()[:60]}…")
                      for cell in text.strip("|").split("|") if words(cell) > CELL]
        else:
            lengths += map(words, sentences(text))
    if len(lengths) >= 10 and sum(lengths) / len(lengths) > AVERAGE:
        found.append((1, f"sentences of {sum(lengths) / len(lengths):.1f} words on average, at most {AVERAGE}"))
    return found


def comments(source: str):
    """(line, text) of each paragraph of a comment that has lines of its own, and of each at the end of a line."""
    start, collected = 0, []
    for number, line in enumerate([*source.splitlines(), ""], 1):
        code, text = re.fullmatch(r'((?:[^"/]|"(?:\\.|[^"\\])*"|/(?!/)|")*)(?://+(.*))?', line).groups()
        if collected and (code.strip() or not (text or "").strip("/!< ") or text.startswith(("   ", " - "))):
            yield start, plain(" ".join(collected))
            collected.clear()
        if text and code.strip():
            yield number, plain(text.lstrip("!< "))
        elif text and text.strip("!<= "):
            start = start if collected else number
            collected.append(text.lstrip("!< "))


def check_comments(source: str) -> list[tuple[int, str]]:
    phrases = {**BANNED, PER: "one X per Y"}
    return [fault for line, text in comments(source) for fault in faults(line, text, phrases, LEANS)]


def main(arguments: list[str]) -> int:
    examine, patterns = (check_comments, ("*.h", "*.cpp", "*.def", "*.td", "*.cu*")) if "--comments" in arguments else (check, ("*.md",))
    files = [Path(name) for name in arguments if not name.startswith("--")] or tracked(patterns)
    if "--words" in arguments:
        counts = {file: sum(words(text) for _, _, text in blocks(file.read_text(encoding="utf-8"))) for file in files}
        print("\n".join(f"{count:6} {file}" for file, count in sorted(counts.items(), key=lambda item: item[1])))
        print(f"{sum(counts.values()):6} in all")
        return 0
    found = [f"{file}:{line}: {what}" for file in files for line, what in examine(file.read_text(encoding="utf-8"))]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
