"""kv-generate around a kv-run that answers with given tokens."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kv_generate.detokenize import Detokenizer
from kv_import import synthetic
from tools import KV_GENERATE, KV_IMPORT, fails, run

FAKE = Path(__file__).resolve().parent / "fake_kv_run.py"
IM_START, IM_END = 257, 258


@pytest.fixture(scope="module")
def tokenizer(model):
    from tokenizers import Tokenizer
    return Tokenizer.from_file(str(model / "tokenizer.json"))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model folder with an artifact that nobody loads."""
    folder = tmp_path_factory.mktemp("model")
    config = synthetic.make_config("llama")
    synthetic.write_hf(folder / "hf", config, synthetic.make_weights(config))
    done = run(KV_IMPORT, folder / "hf", "-o", folder / "out", "--name", "tiny")
    assert done.returncode == 0, done.stderr
    (folder / "out/model.so").write_bytes(b"")
    return folder / "out"


class Run:
    """One run with the fake; `sent` are the requests that it got."""

    def __init__(self, tmp_path, model, *arguments, answers=([1, 2, 3],), expect=0, stdin="",
                 **more):
        log = tmp_path / "log"
        environment = {**os.environ, "FAKE_LOG": str(log),
                       "FAKE_TOKENS": json.dumps(list(answers)), **more}
        done = run(KV_GENERATE, model, "--kv-run", FAKE, *arguments, env=environment, input=stdin)
        assert done.returncode == expect, done
        assert "Traceback" not in done.stderr
        lines = log.read_text(encoding="utf-8").splitlines()
        self.command, self.sent = json.loads(lines[0]), [json.loads(x) for x in lines[1:]]
        self.out, self.err = done.stdout, done.stderr


def test_chat_template_and_defaults(tmp_path, model, tokenizer):
    done = Run(tmp_path, model, "Hi?", "--system", "Be brief.",
               answers=[tokenizer.encode("Yes: ünïcode 東京").ids])
    assert done.out == "Yes: ünïcode 東京\n"
    assert done.command == [str(model / "model.so"), "--weights",
                            str(model / "weights.safetensors")]
    request, = done.sent
    assert tokenizer.decode(request["tokens"], skip_special_tokens=False) == (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi?<|im_end|>\n"
        "<|im_start|>assistant\n")
    assert request["tokens"][0] == IM_START
    del request["tokens"]
    assert request == {"id": "0", "max_new_tokens": 256, "stop_tokens": [256, IM_END], "seed": 0}


def test_only_documented_fields_are_sent(tmp_path, model):
    done = Run(tmp_path, model, "a", "--temperature", "0.5", "--top-k", "3", "--top-p", "0.9",
               "--seed", "5", "--max-new-tokens", "9", "--threads", "2")
    assert done.command[3:] == ["--threads", "2"]
    request, = done.sent
    del request["tokens"]
    assert request == {"id": "0", "max_new_tokens": 9, "stop_tokens": [256, 258], "seed": 5,
                       "temperature": 0.5, "top_k": 3, "top_p": 0.9}


def test_raw(tmp_path, model, tokenizer):
    done = Run(tmp_path, model, "--raw", "Once upon")
    assert done.sent[0]["tokens"] == tokenizer.encode("Once upon").ids


def test_several_prompts_are_one_run_and_come_in_order(tmp_path, model, tokenizer):
    texts = ["first", "second", "third"]
    done = Run(tmp_path, model, "a", "b", "c", answers=[tokenizer.encode(t).ids for t in texts])
    assert done.out == "--- 1\nfirst\n--- 2\nsecond\n--- 3\nthird\n"
    assert [r["id"] for r in done.sent] == ["0", "1", "2"]
    assert [r["seed"] for r in done.sent] == [0, 1, 2]


def test_one_by_one(tmp_path, model, tokenizer):
    texts = ["first", "second"]
    done = Run(tmp_path, model, "--one-by-one", "a", "b", "--stats", "-",
               answers=[tokenizer.encode(t).ids for t in texts])
    assert done.out == "> a\nfirst\n\n> b\nsecond\n"
    statistics = json.loads(done.err)
    assert statistics["requests"] == 2
    assert [answer["first_token_seconds"] >= 0 for answer in statistics["answers"]] == [True, True]
    first, second = done.sent
    assert first["arrival_step"] == 0
    assert second["arrival_step"] == len(first["tokens"]) + 256 + 1


def test_prompt_from_standard_input(tmp_path, model, tokenizer):
    done = Run(tmp_path, model, "--raw", "-", stdin="from a file")
    assert tokenizer.decode(done.sent[0]["tokens"]) == "from a file"


def test_chat_keeps_the_conversation(tmp_path, model, tokenizer):
    done = Run(tmp_path, model, "--chat", stdin="one\n\ntwo\n", answers=[
        tokenizer.encode("uno").ids])
    assert done.out == "uno\nuno\n"  # a run a turn
    assert tokenizer.decode(done.sent[-1]["tokens"], skip_special_tokens=False) == (
        "<|im_start|>user\none<|im_end|>\n<|im_start|>assistant\nuno<|im_end|>\n"
        "<|im_start|>user\ntwo<|im_end|>\n<|im_start|>assistant\n")


def test_statistics(tmp_path, model):
    Run(tmp_path, model, "a", "--stats", tmp_path / "stats.json")
    assert json.loads((tmp_path / "stats.json").read_text()) == {"requests": 1, "steps": 7}
    assert json.loads(Run(tmp_path, model, "a", "--stats", "-").err)["steps"] == 7


def test_a_failing_request(tmp_path, model, tokenizer):
    done = Run(tmp_path, model, "a", "b", "c", expect=1, FAKE_ERROR="1",
               answers=[tokenizer.encode("good").ids])
    assert done.err == "kv-generate: request 1: 9000 prompt tokens\n"
    assert done.out == "--- 1\ngood\n--- 2\n\n--- 3\ngood\n"


def test_kv_run_that_dies(tmp_path, model):
    for extra in (["a"], ["a", "--one-by-one"], ["--chat"]):
        done = Run(tmp_path, model, *extra, expect=1, FAKE_DIES="1", stdin="x\n")
        assert done.err.count("\n") == 1 and "ended" in done.err and "status 3" in done.err


def test_a_program_that_is_no_kv_run(tmp_path, model):
    program = tmp_path / "program"
    for answer in ("5", "hello"):
        program.write_text(f"#!/bin/sh\necho {answer}\n")
        program.chmod(0o755)
        assert fails(KV_GENERATE, model, "a", "--kv-run", program) == f"kv-generate: kv-run: not an answer: '{answer}'"


@pytest.mark.parametrize("name", ("model.so", "weights.safetensors", "model.json",
                                  "tokenizer.json"))
def test_incomplete_folder(tmp_path, model, name):
    for path in model.iterdir():
        if path.name != name:
            (tmp_path / path.name).write_bytes(path.read_bytes())
    assert f"lacks {name}" in fails(KV_GENERATE, tmp_path, "a", "--kv-run", FAKE)


def test_other_bad_input(tmp_path, model):
    assert "no such folder" in fails(KV_GENERATE, tmp_path / "x", "a")
    assert "no such file" in fails(KV_GENERATE, model, "a", "--kv-run", tmp_path / "x")
    for path in model.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    facts = json.loads((tmp_path / "model.json").read_text())

    def with_facts(**changes):
        (tmp_path / "model.json").write_text(json.dumps({**facts, **changes}))
        return fails(KV_GENERATE, tmp_path, "a", "--kv-run", FAKE,
                     env={**os.environ, "FAKE_LOG": str(tmp_path / "log")})

    assert "--raw" in with_facts(chat_template=None)
    assert "bad chat template" in with_facts(chat_template="{% if %}")
    assert "no systems" in with_facts(chat_template="{{ raise_exception('no systems') }}")
    assert "refuses" in with_facts(chat_template="{{ ''.__class__.__mro__[1].__subclasses__() }}")
    assert "bad chat template" in with_facts(chat_template=5)
    for wrong, sentence in (
            ("{{ 1 / 0 }}", "division by zero"), ("{{ messages[9].a }}", "list object has no element 9"),
            ("{% for i in range(10**9) %}{% endfor %}", "Range too big"),
            ("{{ raise_exception('two\nlines') }}", "two lines")):
        assert f"the chat template refuses these messages: {sentence}" in with_facts(chat_template=wrong)
    (tmp_path / "model.json").write_text("[" * 200_000)
    assert "not what kv-import writes" in fails(KV_GENERATE, tmp_path, "a")
    (tmp_path / "model.json").write_text("[]")
    assert "not what kv-import writes" in fails(KV_GENERATE, tmp_path, "a")


@pytest.mark.parametrize("options, sentence", (
    (("--temperature", "nan"), "--temperature: 'nan' is given, allowed: a number of 0 or more"),
    (("--temperature", "-1"), "--temperature: '-1' is given, allowed: a number of 0 or more"),
    (("--top-p", "inf"), "--top-p: 'inf' is given, allowed: a number above 0, at most 1"),
    (("--top-p", "0"), "--top-p: '0' is given, allowed: a number above 0, at most 1"),
    (("--min-p", "1.5"), "--min-p: '1.5' is given, allowed: a number from 0 to 1"),
    (("--top-k", "-1"), "--top-k: '-1' is given, allowed: an integer from 0 to 2147483647"),
    (("--seed", "-1"), "--seed: '-1' is given, allowed: an integer from 0 to 9223372036854775807"),
    (("--max-new-tokens", "many"), "--max-new-tokens: 'many' is given, allowed: an integer from 0 to 2147483647"),
    (("--threads", "0"), "--threads: '0' is given, allowed: an integer from 1 to 4096"),
    (("--stats", ""), "--stats: '' is given, allowed: a text that is not empty"),
    (("--colour",), "unrecognized arguments: --colour"),
    (("--raw", "--system", "x"), "--system is for a chat template, and --raw uses none")))
def test_bad_options(model, options, sentence):
    done = run(KV_GENERATE, model, "a", "--kv-run", FAKE, *options)
    assert done.returncode == 2 and done.stderr == f"kv-generate: {sentence}\n", done.stderr


def test_bytes_that_are_no_text(tmp_path, model):
    def sentence(*arguments, stdin=b""):
        # As in a locale without an encoding of its own, where any bytes can be an argument.
        done = subprocess.run([sys.executable, KV_GENERATE, model, "--kv-run", FAKE, *arguments], input=stdin,
                              capture_output=True, timeout=60,
                              env={**os.environ, "LC_ALL": "C", "FAKE_LOG": str(tmp_path / "log")})
        assert done.returncode == 1 and done.stderr.count(b"\n") == 1, done.stderr
        return done.stderr.decode()

    assert sentence(b"a\xff") == "kv-generate: prompt 1: not UTF-8\n"
    assert sentence(b"a", "-", stdin=b"\xff\xfe") == "kv-generate: prompt 2: not UTF-8\n"
    assert sentence("a", "--system", b"\xff") == "kv-generate: --system: not UTF-8\n"
    assert sentence("--chat", stdin=b"\xff\n") == "kv-generate: standard input: not UTF-8\n"


def test_output_that_takes_nothing(tmp_path, model):
    command = [sys.executable, KV_GENERATE, model, "a", "--kv-run", FAKE]
    environment = {**os.environ, "FAKE_LOG": str(tmp_path / "log"), "FAKE_TOKENS": "[[1, 2, 3]]"}

    def sentence(redirection, status=1):
        done = subprocess.run(["bash", "-c", f'"$@" {redirection}', "bash", *map(str, command)],
                              capture_output=True, text=True, timeout=60, env=environment)
        assert done.returncode == status, done
        return done.stderr

    assert sentence("> /dev/full") == "kv-generate: standard output: No space left on device\n"
    assert sentence(">&-") == "kv-generate: standard output is closed\n"
    assert sentence("--stats /dev/full") == "kv-generate: --stats /dev/full: No space left on device\n"
    # A reader that has seen enough is no error to speak of.
    assert sentence("| true; exit ${PIPESTATUS[0]}", status=141) == ""


def test_text_appears_as_soon_as_it_is_certain(tokenizer):
    """Byte tokens: a character appears with its last byte, and never changes."""
    stream = Detokenizer(tokenizer)
    pieces = [stream.push(token) for token in tokenizer.encode("aé東!").ids]
    assert pieces == ["a", "", "é", "", "", "東", "!"]
    assert stream.finish() == ""


def test_unfinished_character(tokenizer):
    stream = Detokenizer(tokenizer)
    pieces = [stream.push(token) for token in tokenizer.encode("x東").ids[:-1]]
    assert pieces == ["x", "", ""] and stream.finish() == "\ufffd"


def test_a_token_costs_the_same_everywhere(tokenizer):
    """Among bytes that are no characters, too; and what comes out is what all ids say at once."""
    class Counting:
        ids = 0

        def decode(self, ids, **more):
            self.ids += len(ids)
            return tokenizer.decode(ids, **more)

        def __getattr__(self, name):
            return getattr(tokenizer, name)

    character = tokenizer.encode("東").ids
    random = np.random.default_rng(1)
    kinds = (character[:1], character[:2], character[1:2], character, tokenizer.encode("a é").ids)
    for shares in ([1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [.3, .2, .3, .1, .1], [0, 0, 0, .5, .5]):
        ids = [one for kind in random.choice(5, 1000, p=shares) for one in kinds[kind]]
        counting = Counting()
        stream = Detokenizer(counting)
        assert "".join(map(stream.push, ids)) + stream.finish() == tokenizer.decode(ids)
        assert counting.ids < 30 * len(ids)


def test_invalid_bytes_do_not_stop_the_text(tokenizer):
    stream = Detokenizer(tokenizer)
    ids = tokenizer.encode("東").ids[:1] + tokenizer.encode("ok").ids
    assert "".join(map(stream.push, ids)) + stream.finish() == "\ufffdok"
