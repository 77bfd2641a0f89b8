"""Tokens that are guessed and verified in one step: the answers are the same, and come sooner."""

import json
import re
import subprocess
import sys

import pytest

import kvmlir
from kv_serve.grammars import Grammars, of_schema
from kv_serve.served_model import ServedModel
from kv_import import synthetic
from serve_process import KV_SERVE, Alone, Serve, import_model, make_tiny
from tools import find

KV_RUN = find("kv-run")
PROMPTS = ["ab" * 20, "one two one two one", "xyz", "a"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_tiny(tmp_path_factory.mktemp("drafts"))


@pytest.fixture(scope="module")
def alone(folder):
    return Alone(folder)


@pytest.fixture(scope="module")
def server(folder):
    with Serve(folder, "--pages", 256, "--max-batch", 8, "--max-batch-tokens", 64, "--ngram", 6) as server:
        yield server


def drafted(server):
    """(verified, accepted)"""
    labels = {"model_name": "tiny", "engine": "0"}
    return [server.figure(f"vllm:spec_decode_num_{name}_tokens_total", **labels) for name in ("draft", "accepted")]


def test_answers_are_the_same(server, alone):
    before = drafted(server)
    client = server.client()
    for temperature in (0, 1):
        sampling = {"temperature": temperature, "seed": 5}
        for prompt in PROMPTS:
            want, _ = alone.answer(alone.text_tokens(prompt), 40, stop_tokens=(), **sampling)
            [choice] = client.completions.create(model="tiny", prompt=prompt, max_tokens=40, **sampling,
                                                 extra_body={"ignore_eos": True}).choices
            assert choice.text == want, (prompt, temperature)
    # A greedy answer of this model soon repeats itself.
    verified, accepted = (now - then for now, then in zip(drafted(server), before))
    assert verified > accepted > 40


def test_kv_run(folder, alone):
    """Digests: the logits have the same bits."""
    lines = "\n".join(json.dumps({"id": f"{i}-{temperature}", "tokens": alone.text_tokens(prompt), "seed": 5,
                                  "temperature": temperature, "max_new_tokens": 40, "logits": "digest"})
                      for i, prompt in enumerate(PROMPTS) for temperature in (0, 1))
    answers = []
    for more in ((), ("--ngram", "6"), ("--draft", folder), ("--draft", folder, "--ngram", "3")):
        done = subprocess.run([KV_RUN, folder / "model.so", "--weights", folder / "weights.safetensors",
                               "--no-stream", "--threads", "1", *more],
                              input=lines, text=True, capture_output=True, check=True)
        *told, last = map(json.loads, done.stdout.splitlines())
        answers.append({one["id"]: (one["tokens"], one["logits_digests"]) for one in told})
        statistics = last["statistics"]
        assert (statistics["accepted_tokens"] > 40) == (statistics["draft_tokens"] > 40) == bool(more)
        assert statistics["decode_tokens"] == len(answers[-1]) * 39
    assert all(one == answers[0] for one in answers)


def test_a_text_that_is_forced_is_guessed(server, folder, alone):
    """Such as the name of a property. The draw decides, and so the answer has the tokens that masks alone give."""
    model = ServedModel(folder)
    model.vocab_size = alone.model.manifest.model_vocab_size
    names = ("a_name_that_is_long", "another_name_that_is_long")
    schema = {"type": "object", "required": list(names), "additionalProperties": False,
              "properties": {name: {"type": "integer", "maximum": 99, "minimum": 10} for name in names}}
    make_mask = Grammars(model).masks(of_schema(schema), 200)
    for temperature in (0, 1):
        streams, steps = {}, {}
        for drafts in (False, True):
            own = kvmlir.Server(alone.model, alone.model.create_manager(1, num_pages=20, warn=False))
            mask = make_mask()
            streams[drafts] = own.add(alone.text_tokens("go"), max_new_tokens=200, temperature=temperature, seed=3,
                                      stop_tokens=model.stops, mask=mask.allow, drafts=mask.drafts if drafts else None)
            steps[drafts] = sum(iter(own.step, False)) + 1
        assert streams[True].tokens == streams[False].tokens and streams[True].finish_reason == "stop"
        figures = own.figures()
        # A token is a byte: of each name all but the first few are accepted.
        assert figures["accepted_tokens"] >= len("".join(names)) - 4
        assert steps[True] == steps[False] - figures["accepted_tokens"]
    before = drafted(server)
    [choice] = server.client().completions.create(
        model="tiny", prompt="go", max_tokens=200, temperature=0,
        extra_body={"structured_outputs": {"json": schema}}).choices
    assert set(json.loads(choice.text)) == {*names}
    assert drafted(server)[1] >= before[1] + len("".join(names)) - 4


def test_a_draft_model(folder, alone):
    """Which is the model itself here: of greedy answers it guesses every token."""
    with Serve(folder, "--pages", 64, "--draft", folder, "--draft-length", 3) as server:
        for temperature in (0, 1):
            sampling = {"temperature": temperature, "seed": 5}
            want, _ = alone.answer(alone.text_tokens("xyz"), 41, stop_tokens=(), **sampling)
            [choice] = server.client().completions.create(model="tiny", prompt="xyz", max_tokens=41, **sampling,
                                                          extra_body={"ignore_eos": True}).choices
            assert choice.text == want
            if temperature == 0:
                assert drafted(server) == [30, 30]  # the first token comes with the prompt, then four with each step
        assert server.is_idle()


def test_a_length_needs_a_model(folder):
    for command in ([KV_RUN, folder / "model.so", "--weights", folder / "weights.safetensors"],
                    [sys.executable, KV_SERVE, folder]):
        done = subprocess.run([*command, "--draft-length", "3"], capture_output=True, text=True, timeout=60)
        assert done.returncode == 2 and re.search("--draft-length .*--draft$", done.stderr.strip()), done.stderr


def test_another_vocabulary_is_refused(folder, alone, tmp_path):
    config = synthetic.make_config("llama", vocab=304)
    other = import_model(tmp_path, config, synthetic.make_weights(config))

    def refused(command):
        done = subprocess.run([*command, "--draft", other], capture_output=True, text=True, timeout=60)
        assert done.returncode
        return done.stderr.splitlines()[-1]

    run = [KV_RUN, folder / "model.so", "--weights", folder / "weights.safetensors"]
    serve = [sys.executable, KV_SERVE, folder]
    says = "its vocabulary has 304 tokens, the served model's 272"
    assert refused(run) == f"kv-run: error: --draft {other}: {says}"
    assert refused(serve) == f"kv-serve: the draft model cannot guess: {says}"
    with pytest.raises(ValueError, match=says):
        kvmlir.Server(alone.model, draft=alone.model.session.load(other))
    whole = json.loads((other / "tokenizer.json").read_text())
    vocabulary = whole["model"]["vocab"]
    vocabulary["a"], vocabulary["b"] = vocabulary["b"], vocabulary["a"]
    (other / "tokenizer.json").write_text(json.dumps(whole))
    assert refused(serve) == f"kv-serve: --draft {other}: its tokens are not those of {folder}"
