"""Bad input to kv-run and kv-compile: one clear sentence each, and nobody else is disturbed."""

import json
import subprocess

import pytest

from kv_import import synthetic
from tools import KV_IMPORT, find, run

KV_COMPILE, KV_RUN = find("kv-compile"), find("kv-run")
pytestmark = pytest.mark.skipif(not (KV_COMPILE and KV_RUN), reason="kv-run is not built")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("errors")
    config = synthetic.make_config("llama")
    synthetic.write_hf(path / "hf", config, synthetic.make_weights(config))
    assert run(KV_IMPORT, path / "hf", "-o", path, "--page", "16").returncode == 0
    subprocess.run([KV_COMPILE, path / "model.mlir", "-o", path / "model.so"], check=True)
    return path


def serve(model, text, *options, artifact="model.so", weights="weights.safetensors"):
    return subprocess.run([KV_RUN, model / artifact, "--weights", model / weights, *options],
                          input=text, text=True, capture_output=True, timeout=60)


def refuses(model, sentence, **more):
    done = serve(model, "", **more)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done
    assert sentence in done.stderr, done.stderr


BAD_LINES = {
    'not json': "line 2 is not valid JSON",
    '[1, 2]': "line 2 is [1,2], an object is needed",
    "[" * 10**6 + "]" * 10**6: "line 2 is nested deeper than 64 levels",
    '{"id": "b", "tokens": %s1%s}' % ("[" * 10**6, "]" * 10**6): "line 2 is nested deeper than 64 levels",
    '{"id": "b", "tokens": [1], "id": "c"}': 'line 2 has the field "id" twice',
    '{"id": "b", "tokens": [%s1]}' % ("1," * 10**7): "line 2 has more than 16777216 bytes",
    '{"tokens": [1]}': "the field id is missing",
    '{"id": 7, "tokens": [1]}': "id is 7, allowed: a string",
    '{"id": "b"}': "request b: ",
    '{"id": "b", "tokens": []}': "request b: tokens is empty",
    '{"id": "b", "tokens": "abc"}': 'request b: tokens is "abc"',
    '{"id": "b", "tokens": [-1]}': "request b: tokens[0] is -1",
    '{"id": "b", "tokens": [1, 272]}': "request b: tokens[1] is 272, the vocabulary is 0 to 271",
    '{"id": "b", "tokens": [1], "colour": 3}': 'request b: unknown field "colour"',
    '{"id": "b", "tokens": [1], "top_p": 1.5}': "request b: top_p is 1.5",
    '{"id": "b", "tokens": [1], "temperature": -1}': "request b: temperature is -1",
    '{"id": "b", "tokens": [1], "priority": 128}': "request b: priority is 128, allowed: an integer from 0 to 127",
    '{"id": "b", "tokens": [1], "priority": -1}': "request b: priority is -1, allowed: an integer from 0 to 127",
    '{"id": "b", "tokens": [1], "salt": 5}': "request b: salt is 5, allowed: a string",
    '{"id": "b", "tokens": [1], "salt": "%s"}' % ("s" * 241): "request b: a salt of 241 bytes, allowed: 240",
    '{"id": "a", "tokens": [1]}': "request a: its id is that of a running request",
    '{"id": "b", "tokens": %s}' % ([1] * 600):
        "request b: 600 prompt tokens, the model takes at most 512",
    '{"id": "b", "tokens": %s}' % ([1] * 200): "the cache has 8",
}


@pytest.mark.parametrize("line", BAD_LINES, ids=range(len(BAD_LINES)))
def test_bad_request(model, line):
    good = '{"id": "%s", "tokens": [5, 6, 7], "max_new_tokens": 4}\n'
    alone = serve(model, good % "a").stdout.splitlines()
    done = serve(model, good % "a" + line + "\n" + good % "c", "--pages", "8")
    assert done.returncode == 1, done.stderr
    answers = [json.loads(text) for text in done.stdout.splitlines()]
    errors = [answer["error"] for answer in answers if "error" in answer]
    assert len(errors) == 1 and BAD_LINES[line] in errors[0], errors
    tokens = [a["token"] for a in map(json.loads, alone) if "token" in a]
    for name in "ac":
        assert [a["token"] for a in answers if a.get("id") == name and "token" in a] == tokens
    assert answers[-1]["statistics"]["failed_requests"] == 1


def test_bad_artifacts(model):
    whole = (model / "model.so").read_bytes()
    (model / "cut.so").write_bytes(whole[:1000])
    (model / "old.so").write_bytes(whole.replace(b'"abi_version": 2', b'"abi_version": 7'))
    (model / "level.so").write_bytes(whole.replace(b'"cpu": "x86-64-v', b'"cpu": "x86-64-w'))
    (model / "kind.so").write_bytes(whole.replace(b'"kind": "weight"', b'"kind": "whimsy"'))
    (model / "bare.so").write_bytes(whole.replace(b".kv.manifest", b".kv.manifold"))
    refuses(model, "cut.so: cut off", artifact="cut.so")
    refuses(model, "weights.safetensors: not an ELF file", artifact="weights.safetensors")
    refuses(model, "none.so: No such file", artifact="none.so")
    refuses(model, "abi_version is 7, this runtime has version 2", artifact="old.so")
    refuses(model, "x86-64-w", artifact="level.so")
    refuses(model, "whimsy", artifact="kind.so")
    refuses(model, ".kv.manifest", artifact="bare.so")


def test_bad_weights(model):
    whole = (model / "weights.safetensors").read_bytes()
    (model / "cut").write_bytes(whole[:20000])
    (model / "renamed").write_bytes(whole.replace(b"layers.1.mlp.up_proj", b"layers.9.mlp.up_proj"))
    refuses(model, "cut: tensor ", weights="cut")
    refuses(model, "model.so: not a safetensors file", weights="model.so")
    refuses(model, "none: No such file", weights="none")
    refuses(model, "model.layers.1.mlp.up_proj.weight", weights="renamed")
    config = synthetic.make_config("llama", intermediate=96)
    synthetic.write_hf(model / "other-hf", config, synthetic.make_weights(config))
    assert run(KV_IMPORT, model / "other-hf", "-o", model / "other", "--page", "16").returncode == 0
    refuses(model, "mlp.gate_proj.weight: the file holds BF16[6, 64, 16] (n16k), the artifact wants "
                   "bf16[8, 64, 16] (n16k)", weights="other/weights.safetensors")


def test_bad_options(model):
    for options, sentence in ((("--page-size", "32"), "--page-size is 32, the artifact's page size is 16"),
                              (("--pages", "0"), "--pages"), (("--threads", "x"), "--threads"),
                              (("--colour",), "--colour"), (("--rank-timeout", "nan"), "--rank-timeout"),
                              (("--cache-bytes", "9" * 20), "--cache-bytes"),
                              (("--disk-dir", "d", "--disk-bytes", "9" * 20), "--disk-bytes"),
                              (("--page-size", "9" * 20), "--page-size"), (("--pages", "1", "--pages", "2"), "--pages"),
                              (("--pages", "1", "--cache-bytes", "2"), "--pages")):
        done = serve(model, "", *options)
        assert done.returncode == 2 and done.stdout == "", done
        assert done.stderr.startswith("kv-run: error: ") and done.stderr.count("\n") == 1, done
        assert sentence in done.stderr, done


@pytest.mark.parametrize("redirection, sentence", (
    ("<&-", "standard input: Bad file descriptor"), ("< /", "standard input: Is a directory"),
    ("--requests / < /dev/null", "/: Is a directory")))
def test_input_that_cannot_be_read(model, redirection, sentence):
    """Nobody may believe that there were no requests."""
    for option in ("", "--map-weights", "--dump-logits logits"):
        done = subprocess.run(["bash", "-c", f'"$0" model.so --weights weights.safetensors {option} {redirection}',
                               KV_RUN], cwd=model, text=True, capture_output=True, timeout=60)
        assert done.returncode == 2 and done.stderr == f"kv-run: error: {sentence}\n", done


@pytest.mark.parametrize("name", ("model.so", "weights.safetensors"))
def test_a_dump_over_what_is_read(model, name):
    before = (model / name).read_bytes()
    (model / f"link-{name}").symlink_to(model / name)
    done = serve(model, "", "--dump-logits", model / f"link-{name}")
    assert done.returncode == 2 and "a file that is read" in done.stderr, done
    assert (model / name).read_bytes() == before


def test_empty_options(model):
    for option in ("--requests", "--disk-dir", "--dump-logits", "--store", "--events", "--pages"):
        done = serve(model, "", option, "")
        assert done.returncode == 2 and option in done.stderr and done.stdout == "", done


def test_as_many_requests_as_the_option_says(model):
    assert serve(model, "", "--max-batch", "1048576").stderr.startswith("kv-run: error: --max-batch: ")


def test_bad_modules(model):
    def compiles(text, *options):
        (model / "bad.mlir").write_text(text)
        done = subprocess.run([KV_COMPILE, model / "bad.mlir", "-o", model / "bad.so", *options],
                              text=True, capture_output=True, timeout=60)
        assert done.returncode == 1 and not (model / "bad.so").exists()
        return done.stderr

    text = (model / "model.mlir").read_text()
    assert "error: " in compiles("no module")
    assert ("unknown CPU 'foo': use x86-64-v3, x86-64-v4, x86-64-v4-vnni, x86-64-v4-amx"
            in compiles(text, "--mcpu=foo"))
    assert "unknown pipeline 'fast'" in compiles(text, "--pipeline=fast")
    assert "the module has no entry" in compiles("module {}")
    assert "-O is 4, allowed: 0 to 3" in compiles(text, "-O4")
    assert "--page-size is 0, allowed: 1 or more" in compiles(text, "--page-size=0")
    assert compiles(text, "--page-size=1048577") == (
        "kv-compile: error: pages of 1048577 tokens: 'page' must be at most 1048576, not 1048577\n")
    assert "'max_seq_len' of 'kv.model' is a positive integer" in compiles(
        text.replace("max_seq_len = 512", "max_seq_len = -512"))
    assert "the entry 'forward' has several inputs that are called 'tokens'" in compiles(
        text.replace('kv.name = "row_offsets"', 'kv.name = "tokens"'))
    # One message and the line that it is about, not the module as well.
    assert len(compiles(text, "--ranks=0").splitlines()) == 3


def test_files_of_the_compiler(model):
    def sentence(*arguments):
        done = subprocess.run([KV_COMPILE, *arguments], cwd=model, text=True, capture_output=True, timeout=60)
        assert done.returncode == 1 and done.stderr.startswith("kv-compile: error: "), done
        return done.stderr

    (model / "own.mlir").write_text(text := (model / "model.mlir").read_text())
    (model / "own-link.mlir").symlink_to(model / "own.mlir")
    assert "-o is own-link.mlir, the module itself" in sentence("own.mlir", "-o", "own-link.mlir")
    assert (model / "own.mlir").read_text() == text
    assert "-o is empty" in sentence("own.mlir", "-o", "")
    for output, why in (("none/x.so", "No such file or directory"), ("own.mlir/x.so", "Not a directory"),
                        (".", "Is a directory")):
        assert sentence("own.mlir", "-o", output) == f"kv-compile: error: -o is {output}: {why}\n"
    assert sentence("own.mlir", "-o", "x.so", "--kernels", "k") == (
        "kv-compile: error: --kernels is for the device code of GPUs, and --target is cpu\n")
    assert "cannot open input file 'none.mlir': No such file or directory" in sentence("none.mlir", "-o", "x.so")
    assert "cannot open input file '.': Is a directory" in sentence(".", "-o", "x.so")


def test_error_inside_a_step(model):
    """A layer that only the run can check: the status is sticky, the request gets the sentence."""
    text = (model / "model.mlir").read_text().replace("layers = 2", "layers = 1")
    (model / "short.mlir").write_text(text)
    subprocess.run([KV_COMPILE, model / "short.mlir", "-o", model / "short.so"], check=True)
    done = serve(model, '{"id": "a", "tokens": [1, 2]}\n', artifact="short.so")
    assert done.returncode == 1, done
    answer = json.loads(done.stdout.splitlines()[0])
    assert answer["id"] == "a" and "layer" in answer["error"], answer
