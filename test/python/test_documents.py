"""Every shell command of README.md, docs/start/tutorial.md and of the guides c, python, raise, serve and trees is executed.

The blocks of a page run in order in one shell and one empty folder, with the tools in PATH and the
checkout in $KV. A block is one of

    ```sh                 commands; each must succeed
    ```LANG output        what the block before it prints (standard error included): these lines,
                          where a line `...` stands for any lines and `…` for any part of a line
    ```LANG file=NAME     a file to write

and anything else is to be read only."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kv_import import synthetic
from tools import ROOT, find

MODEL = "build/models/SmolLM2-135M-Instruct.Q4_1.gguf"
KV_OPT, KV_RUN = find("kv-opt"), find("kv-run")
pytestmark = pytest.mark.skipif(not (KV_OPT and KV_RUN), reason="kv-opt is not built")

# These set up, build and test the checkout itself.
EXEMPT = {"scripts/demo.sh", "scripts/test.sh"}
MARK = "@@ end of block"


class Block:
    def __init__(self, page, match):
        self.language, _, self.kind = match[1].strip().partition(" ")
        self.text = match[2]
        self.line = page[:match.start()].count("\n") + 1


def blocks(path):
    page = path.read_text(encoding="utf-8")
    return [Block(page, m) for m in re.finditer(r"^```(.*)\n((?:.*\n)*?)```$", page, flags=re.M)]


def commands(block):
    return "\n".join(line for line in block.text.splitlines()
                     if line.split("#")[0].strip() not in EXEMPT) + "\n"


def script(page):
    lines = ["set -e", "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"]  # whatever fails
    for block in page:
        if block.kind.startswith("file="):
            lines.append(f"cat > {block.kind[5:]} <<'END_OF_FILE'\n{block.text}END_OF_FILE")
        elif block.language == "sh":
            lines.append(f"{commands(block)}echo; echo '{MARK} {block.line}'")
    return "\n".join(lines) + "\n"


def expression(text):
    """The regular expression of declared output."""
    out = ""
    for line in text.splitlines():
        if line.strip() == "...":
            out += r"(?:.*\n)*?"
        else:
            out += r".*?".join(re.escape(part) for part in line.rstrip().split("…")) + r"[ ]*\n"
    return out


def execute(path, folder):
    page = blocks(path)
    built = Path(KV_OPT).parent
    paths = [str(built), *(str(ROOT / "tools" / name) for name in ("kv-import", "kv-generate", "kv-serve")),
             str(Path(sys.executable).parent), os.environ["PATH"]]
    # The pages say build/release; what is tested may be another preset's build.
    checkout = folder.parent / "kv"
    (checkout / "build").mkdir(parents=True)
    (checkout / "build/release").symlink_to(built.parent)
    for name in ("include", "scripts", "tools"):
        (checkout / name).symlink_to(ROOT / name)
    environment = {**os.environ, "PATH": ":".join(paths), "KV": str(checkout)}
    done = subprocess.run(["bash"], input=script(page), cwd=folder, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    assert done.returncode == 0, f"{path.name}: {done.stdout[-3000:]}"
    printed = {}
    for part in re.finditer(rf"((?:.*\n)*?){MARK} (\d+)\n", done.stdout):
        printed[int(part[2])] = part[1].rstrip() + "\n"
    for before, block in zip(page, page[1:]):
        if block.kind == "output":
            assert before.language == "sh", f"{path.name}:{block.line}: output of no command"
            actual = printed[before.line]
            assert re.fullmatch(expression(block.text) + r"\s*", actual), (
                f"{path.name}:{block.line}: printed\n{actual[:3000]}")
    return len(printed)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def write_model(folder):
    """model.gguf, which the pages speak of: a small model here."""
    config = synthetic.make_config("llama")
    synthetic.write_gguf(folder / "model.gguf", config, synthetic.make_weights(config))


def test_readme(folder):
    """requests.jsonl is any request."""
    write_model(folder)
    (folder / "requests.jsonl").write_text('{"id": "a", "tokens": [5, 6], "max_new_tokens": 3}\n')
    assert execute(ROOT / "README.md", folder) >= 2


def test_exempt_commands_exist():
    readme = (ROOT / "README.md").read_text()
    for name in EXEMPT:
        assert name in readme and os.access(ROOT / name, os.X_OK)


def test_tutorial(folder):
    if (ROOT / MODEL).exists():
        (folder / "models").mkdir()
        (folder / MODEL.replace("build/", "")).symlink_to(ROOT / MODEL)
    assert execute(ROOT / "docs/start/tutorial.md", folder) >= 10


def test_c(folder):
    write_model(folder)
    assert execute(ROOT / "docs/guides/c.md", folder) == 1


@pytest.mark.parametrize("page, commands", [("python", 5), ("trees", 2)])
def test_python(folder, page, commands):
    package = os.environ.get("KV_PYTHON_PACKAGE") or ROOT / "build/release/python"
    if not (Path(package) / "kvmlir").is_dir():
        pytest.skip("the package kvmlir is not built: there is no nanobind")
    write_model(folder)
    assert execute(ROOT / f"docs/guides/{page}.md", folder) == commands


# CI has no exporter, which takes 6 GB: scripts/check-raise.sh runs this.
if os.environ["KV_EXPORTER_PYTHON"] != "none":
    def test_raise(folder):
        """The commands after the exporter's installation."""
        config = synthetic.make_config("llama")
        synthetic.write_hf(folder / "MODEL_FOLDER", config, synthetic.make_weights(config))
        assert execute(ROOT / "docs/guides/raise.md", folder) == 1


def test_serve(folder):
    write_model(folder)
    assert execute(ROOT / "docs/guides/serve.md", folder) == 2


def test_the_program_in_c_is_what_the_install_test_builds():
    [program] = [block for block in blocks(ROOT / "docs/guides/c.md") if block.kind == "file=generate.c"]
    assert program.text == (ROOT / "test/install/c/generate.c").read_text()


def test_declared_output():
    """The comparison itself: what must match does, what must not does not."""
    matches = lambda shown, text: re.fullmatch(expression(shown) + r"\s*", text)
    assert matches("a\n...\nb …\n", "a\nx\ny\nb c d\n")
    assert not matches("a\nb\n", "a\nx\nb\n")
    assert not matches("a\n", "a\nb\n")
    assert not matches("a.c\n", "abc\n")


def test_what_options_are_made_of():
    """Headers have the rows; if not, run scripts/options.py. What binds all options names none."""
    sys.path.insert(0, str(ROOT / "scripts"))
    import options
    for path, text in options.outputs().items():
        assert path.read_text() == text, f"{path} is older than include/kv/ABI/*Options.def"
    rows = [*options.read("Manager"), *options.read("Server")]
    assert len(rows) >= 36
    fields = {re.search(r"(\w+)(\)\(.*)?;", one.field)[1] for one in rows} | {one.name for one in rows}
    names = {name for name in fields if re.search("[A-Z_]", name)}  # others are words as well
    for file in ("python/extension/Errors.cpp", "python/extension/ManagerOptions.cpp", "python/extension/Serving.cpp",
                 "runtime/c/Managers.cpp", "tools/kv-run/Options.cpp"):
        assert not names & set(re.findall(r"\w+", (ROOT / file).read_text())), file


def test_generated_reference():
    """The pages that the build makes from TableGen name every operation and pass, with a summary."""
    docs = Path(KV_OPT).parents[1] / "docs"
    include = ROOT / "include/kv"
    source = "".join(p.read_text() for p in (include / "Dialect").glob("*.td"))
    operations = re.findall(r'^def \w+ : KV_\w*Op<"(\w+)"', source, flags=re.M)
    assert len(operations) >= 17
    page = (docs / "dialect.md").read_text()
    for name in operations:
        assert re.search(rf"^### `kv\.{name}` .*\n\n_\w.*_$", page, flags=re.M), name
    for name in ("CollectionType", "MaskAttr"):
        assert f"### {name}" in page
    source = (include / "Passes/Passes.td").read_text()
    passes = re.findall(r'^def \w+ : Pass<"([\w-]+)"', source, flags=re.M)
    assert len(passes) >= 11
    page = (docs / "passes.md").read_text()
    for name in passes:
        assert re.search(rf"^### `-{name}`\n\n_\w.*_$", page, flags=re.M), name
