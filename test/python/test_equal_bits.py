"""A row's logits have the same bits whatever happens around it: SmolLM2, as kv-run serves it."""

import json
import re
import subprocess

import pytest

from covering import WHOLE_PRODUCT
from tools import KV_IMPORT, ROOT, find, run

MODEL = ROOT / "build/models/SmolLM2-135M-Instruct.Q4_1.gguf"
DATA = ROOT / "test/data/smollm2"
KV_COMPILE, KV_RUN = find("kv-compile"), find("kv-run")
pytestmark = [
    pytest.mark.skipif(not MODEL.exists(), reason="scripts/fetch-smollm2.sh build/models"),
    pytest.mark.skipif(not (KV_COMPILE and KV_RUN), reason="kv-run is not built")]

PROMPTS = [json.loads(line)["tokens"] for line in open(DATA / "teacher.jsonl", encoding="utf-8")]
PROMPT = PROMPTS[3][:67]
NEW = 10


class Served:
    """What one run of kv-run said."""

    def __init__(self, folder, page, requests, *options, artifact=None):
        model = artifact or folder / f"page{page}.so"
        done = subprocess.run(
            [KV_RUN, model, "--weights", folder / "weights.safetensors", *map(str, options)],
            input="".join(json.dumps(r) + "\n" for r in requests), text=True, timeout=300,
            capture_output=True)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.statistics = lines[-1]["statistics"]
        self.rows = {}
        self.finish = {}
        for line in lines[:-1]:
            if "token" in line:
                self.rows.setdefault(line["id"], []).append((line["token"], line["logits_digest"]))
            else:
                self.finish[line["id"]] = line


def ask(name="x", tokens=PROMPT, new=NEW, **more):
    return {"id": name, "tokens": tokens, "max_new_tokens": new, "logits": "digest", **more}


WEIGHTS, PAGES = ("dense", "keep", "i8"), (1, 16, 128)


@pytest.fixture(scope="module", params=WEIGHTS)
def folder(request, tmp_path_factory):
    """With weights of bf16, with the file's blocks of 4 and 8 bits, and of 8 bits with a scale a row."""
    path = tmp_path_factory.mktemp("bits")
    done = run(KV_IMPORT, MODEL, "-o", path, "--dtype", "bf16", "--weights", request.param)
    assert done.returncode == 0, done.stderr
    for page in PAGES:
        subprocess.run([KV_COMPILE, path / "model.mlir", "-o", path / f"page{page}.so",
                        f"--page-size={page}"], check=True, timeout=60)
    path.joinpath("kind").write_text(request.param)
    yield path
    (path / "weights.safetensors").unlink()


@pytest.fixture(scope="module")
def alone(folder):
    """One request, whole prefill, one thread, pages of 128, no prefix cache."""
    served = Served(folder, 128, [ask()], "--threads", 1, "--no-prefix-cache")
    rows = served.rows["x"]
    assert len(rows) == NEW and len({digest for _, digest in rows}) == NEW
    return rows


@pytest.mark.parametrize("turn", range(3) if WHOLE_PRODUCT else (0,))
@pytest.mark.parametrize("page", PAGES)
def test_threads_and_pages(folder, alone, turn, page):
    """One to three threads: with every page size, and with all weights, once."""
    kind = folder.joinpath("kind").read_text()
    threads = 1 + (turn + PAGES.index(page) + WEIGHTS.index(kind)) % 3
    served = Served(folder, page, [ask()], "--threads", threads)
    assert served.statistics["threads"] == threads and served.statistics["page_size"] == page
    assert served.rows["x"] == alone


@pytest.mark.parametrize("layout", ("hnd", "cpu"))
def test_layouts(folder, alone, tmp_path, layout):
    """The order of the cache in memory, which kv-run learns from the manifest."""
    artifact = tmp_path / "layout.so"
    subprocess.run([KV_COMPILE, folder / "model.mlir", "-o", artifact, "--page-size=16",
                    f"--layout={layout}"], check=True, timeout=60)
    served = Served(folder, 16, [ask(), ask("y", arrival_step=2)], artifact=artifact)
    assert served.rows["x"] == served.rows["y"] == alone


def test_continuous(folder, alone, tmp_path):
    """Slots instead of pages: the model with another word in its cache's type."""
    text = (folder / "model.mlir").read_text()
    paged = re.compile(r"<paged, (.*?), page = \d+>")
    assert paged.search(text)
    module, artifact = tmp_path / "continuous.mlir", tmp_path / "continuous.so"
    module.write_text(paged.sub(r"<continuous, \1, max_seq = 256>", text))
    subprocess.run([KV_COMPILE, module, "-o", artifact], check=True, timeout=60)
    served = Served(folder, 0, [ask(), ask("y", arrival_step=3)], artifact=artifact)
    assert served.rows["x"] == served.rows["y"] == alone


@pytest.mark.parametrize("chunk", (1, 16, 29))
def test_chunked_prefill(folder, alone, chunk):
    served = Served(folder, 16, [ask()], "--max-batch-tokens", chunk)
    assert served.statistics["steps"] >= len(PROMPT) // chunk
    assert served.rows["x"] == alone


def test_prompt_logits(folder, tmp_path):
    """Teacher-forced logits of every position: whole or in chunks, the same file."""
    dumps = []
    for number, options in enumerate((("--threads", 2), ("--threads", 3, "--max-batch-tokens", 13))):
        dump = tmp_path / f"dump{number}"
        Served(folder, 16, [ask(new=0)], "--dump-logits", dump, *options)
        dumps.append(dump.read_bytes())
        dump.unlink()
    assert len(dumps[0]) == len(PROMPT) * 49152 * 4 and dumps[0] == dumps[1]


@pytest.mark.parametrize("page", (1, 16, 128))
def test_batched_with_seven_others(folder, alone, page):
    others = [ask(f"other{i}", PROMPTS[i % 5][: 5 + 17 * i] or PROMPTS[0], new=2 + 3 * i,
                  arrival_step=2 * i, temperature=0.8, seed=i) for i in range(7)]
    served = Served(folder, page, others[:3] + [ask(arrival_step=3)] + others[3:],
                    "--max-batch-tokens", 64)
    assert served.rows["x"] == alone
    assert all(len(served.rows[f"other{i}"]) > 0 for i in range(7))


@pytest.mark.parametrize("page", (1, 16))
def test_prefix_hit(folder, alone, page):
    first = ask("first", PROMPT[:40] + [11, 12, 13], new=3)
    later = ask(arrival_step=20)
    hit = Served(folder, page, [first, later])
    assert hit.finish["x"]["cached_tokens"] == 40 // page * page
    missed = Served(folder, page, [first, later], "--no-prefix-cache")
    assert missed.finish["x"]["cached_tokens"] == 0
    assert hit.rows["x"] == missed.rows["x"] == alone


def test_preemption(folder, alone):
    """Too few pages for all: some requests are preempted and computed again."""
    others = [ask(f"other{i}", PROMPTS[4][i: i + 60], new=20) for i in range(3)]
    served = Served(folder, 16, [*others, ask()], "--pages", 14)
    assert served.statistics["preemptions"] > 0
    assert served.rows["x"] == alone
    for i, other in enumerate(others):
        assert served.rows[f"other{i}"] == Served(folder, 16, [other]).rows[f"other{i}"]


def test_cpu_level(folder, alone, tmp_path):
    """AVX2 and AVX-512 compute the same."""
    subprocess.run([KV_COMPILE, folder / "model.mlir", "-o", tmp_path / "v3.so",
                    "--mcpu=x86-64-v3"], check=True, timeout=60)
    assert Served(folder, 128, [ask()], artifact=tmp_path / "v3.so").rows["x"] == alone
