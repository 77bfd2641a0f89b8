"""What MkDocs calls while it builds the site: pages of docs/ are expanded, READMEs of folders become the pages of
code/, links that leave docs/ lead to those pages or to copies of the files, and lists are written as MkDocs reads them.
"""

import os
import re
import subprocess
import sys
from pathlib import Path, PurePosixPath

sys.path.insert(0, str(Path(__file__).parent))
import pages  # noqa: E402

from mkdocs.exceptions import PluginError  # noqa: E402
from mkdocs.structure.files import File  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
SECTIONS = ("start", "guides", "reference", "explanation", "measurements")
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
ITEM = re.compile(r"( *)([-*]|\d+\.) +")


def outside_fences(text, function):
    """`text`, with function applied to all lines between code blocks."""
    parts = re.split(r"(^ *```.*?^ *```[^\n]*$)", text, flags=re.M | re.S)
    return "".join(part if i % 2 else function(part) for i, part in enumerate(parts))


def of_repository(uri):
    """The path of a page in the repository."""
    return PurePosixPath(uri.removeprefix("code/") if uri.startswith("code/") else f"docs/{uri}")


def of_site(path):
    """The page, or the copy, of a file of the repository; a folder is its README."""
    if (ROOT / path).is_dir():
        path = f"{path}/README.md"
    return path.removeprefix("docs/") if path.startswith("docs/") else f"code/{path}"


def target(link, uri):
    """The path in the repository that a link of a page leads to, or None if the link leads to another site."""
    if re.match(r"\w+:|/", link):
        return None
    return os.path.normpath(of_repository(uri).parent / link)


def links(text):
    found = []
    outside_fences(text, lambda part: found.extend(match[2] for match in LINK.finditer(part)) or part)
    return found


def fences(text):
    """Blocks of code with an empty line before and after each; that of a file has the file's name for its title."""
    out, inside, closed = [], False, False
    for line in text.split("\n"):
        fence = line.lstrip().startswith("```")
        if line.strip() and (closed or fence and not inside and out and out[-1].strip()):
            out.append("")
        closed = fence and inside
        inside = inside != fence
        out.append(re.sub(r"^( *```\w+) file=(\S+)$", r'\1 title="\2"', re.sub(r"^( *```\w+) output$", r"\1", line)))
    return "\n".join(out)


def rows(text):
    """Rows of tables as Python-Markdown reads them: in code, a bar is no border and has no backslash."""
    code = lambda match: match[0].replace("\\|", "|")
    return "\n".join(re.sub("`[^`]*`", code, line) if line.startswith("|") else line for line in text.split("\n"))


def lists(text):
    """Lists as Python-Markdown reads them: four spaces per level, and an empty line before each list."""
    out, open_items, fenced, before = [], [], False, ""  # items: where the marker and where the text begins
    for line in text.split("\n"):
        item = None if fenced else ITEM.match(line)
        if line.strip() and not fenced:
            space, left = len(line) - len(line.lstrip()), []
            while open_items and space < open_items[-1][1]:
                left.append(open_items.pop()[0])
            if item and before.strip() and not ITEM.match(before) and space not in left:
                out.append("")
        shift = 4 * len(open_items) - (open_items[-1][1] if open_items else 0)
        out.append(" " * shift + line if line.strip() and shift > 0 else line)
        if item:
            open_items.append((len(item[1]), len(item[0])))
        if line.lstrip().startswith("```"):
            fenced = not fenced
        before = line
    return "\n".join(out)


def tracked():
    names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], cwd=ROOT,
                           text=True, check=True, capture_output=True).stdout.split()
    return [name for name in names if not name.startswith("docs/") and (ROOT / name).exists()]


def navigation(uris):
    """The pages by folder. A title is that of the page; a folder of the code has its path."""
    nav = [{"Home": "README.md"}, *(uri for uri in uris if "/" not in uri and uri != "README.md")]
    folders = {uri.split("/")[0] for uri in uris if "/" in uri} - {"code"}
    for section in (*SECTIONS, *sorted(folders - {*SECTIONS})):
        inside = sorted((uri for uri in uris if uri.startswith(f"{section}/")),
                        key=lambda uri: (uri.count("/"), not uri.endswith("README.md"), uri))
        nav.append({section.capitalize(): inside})
    rooms = {}
    for uri in sorted(uri for uri in uris if uri.startswith("code/")):
        path = of_repository(uri)
        top = path.parts[0] if len(path.parts) > 1 else ""
        title = str(path.parent if path.name == "README.md" and top else path)
        rooms.setdefault(top, []).append({title: uri})
    nav.append({"Code": rooms.pop("", []) + [{top: inside} for top, inside in rooms.items()]})
    return nav


def on_files(files, config):
    # Other pages than those of the repository are a test's.
    for name in ["tools/docs/site.css", *(tracked() if Path(config.docs_dir) == ROOT / "docs" else [])]:
        files.append(File.generated(config, f"code/{name}", abs_src_path=str(ROOT / name)))
    for page in list(files.documentation_pages()):
        for link in links(page.content_string):
            path = target(link, page.src_uri)
            if path and (ROOT / path).is_file() and files.get_file_from_path(of_site(path)) is None:
                files.append(File.generated(config, of_site(path), abs_src_path=str(ROOT / path)))
    config.nav = navigation([page.src_uri for page in files.documentation_pages()])
    return files


def on_page_markdown(markdown, page, config, files):
    uri = page.file.src_uri

    def led(match):
        path = target(match[2], uri)
        if path is None:
            return match[0]
        return match[1] + os.path.relpath(of_site(path), PurePosixPath(uri).parent) + match[3]

    try:
        expanded = pages.expand(markdown, ROOT / of_repository(uri))
    except pages.Problem as problem:
        raise PluginError(str(problem)) from problem
    return lists(outside_fences(fences(expanded), lambda part: rows(LINK.sub(led, part))))
