"""/v1/embeddings: hidden states as the numpy model has them, and the same bits however they are computed."""

import json

import numpy
import pytest

import kvmlir
import reference_model
from kv_import import synthetic
from serve_process import PAGE, Alone, Serve, make_tiny

TEXTS = ["a", "what a cache keeps", "x" * (5 * PAGE), "x" * (5 * PAGE) + "and more", "x" * 150]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_tiny(tmp_path_factory.mktemp("embeddings"), "--embeddings", "--dtype", "f32")


@pytest.fixture(scope="module")
def tokens(folder):
    return [Alone(folder).text_tokens(text) for text in TEXTS]


@pytest.fixture(scope="module")
def server(folder):
    with Serve(folder, "--pages", 64, "--max-batch-tokens", 64) as server:
        yield server


def embed(server, texts, **more):
    found = server.client().embeddings.create(model="tiny", input=texts, extra_body=more)
    return found.usage, numpy.array([one.embedding for one in found.data], numpy.float32)


@pytest.fixture(scope="module")
def wanted(folder, tokens):
    """By pooling."""
    raw = json.loads((folder.parent / "hf/config.json").read_text())
    weights = synthetic.make_weights(synthetic.make_config("llama"))
    rows = [reference_model.hidden(raw, weights, each, "f32")[1] for each in tokens]
    return {"last": numpy.array([one[-1] for one in rows]), "mean": numpy.array([one.mean(axis=0) for one in rows])}


@pytest.mark.parametrize("pooling", ("last", "mean"))
def test_hidden_states(server, tokens, wanted, pooling):
    usage, found = embed(server, TEXTS, pooling=pooling, normalize=False)
    numpy.testing.assert_allclose(found, wanted[pooling], atol=2e-5 * numpy.abs(wanted[pooling]).max())
    assert usage.prompt_tokens == usage.total_tokens == sum(map(len, tokens))
    unit = wanted[pooling] / numpy.linalg.norm(wanted[pooling], axis=1, keepdims=True)
    for more in ({}, {"encoding_format": "float"}):
        numpy.testing.assert_allclose(embed(server, TEXTS, pooling=pooling, **more)[1], unit, atol=2e-5)


@pytest.mark.parametrize("pooling", ("last", "mean"))
def test_equal_bits(folder, server, tokens, pooling):
    """Cold, with the whole text cached, beside other requests, and in chunks of any length. The last state alone
    needs no other row of the text."""
    embed(server, TEXTS, pooling="last")
    usage, warm = embed(server, TEXTS, pooling=pooling, normalize=False)
    cached = 0 if pooling == "mean" else sum((len(each) - 1) // PAGE * PAGE for each in tokens)
    assert server.post("/v1/embeddings", {"input": TEXTS, "pooling": pooling})[1]["usage"]["prompt_tokens_details"][
        "cached_tokens"] == cached
    model = kvmlir.load(folder, num_threads=1)
    for most in (7, 512):
        alone = kvmlir.Server(model, model.create_manager(2, num_pages=64, warn=False), max_batch_tokens=most)
        streams = [alone.add(each, embedding=pooling) for each in tokens]
        answer = alone.add(tokens[1], max_new_tokens=20)
        alone.run()
        assert numpy.array_equal(numpy.array([one.embedding for one in streams], numpy.float32), warm)
        assert answer.embedding is None and len(answer.tokens) == 20
        assert all(one.tokens == [] and one.finish_reason == "length" for one in streams)


def test_scores(server):
    """Cosines of the embeddings: of pairs, and of one text and others."""
    _, units = embed(server, TEXTS)
    for first, second in ((TEXTS[0], TEXTS[1:]), (TEXTS[:2], TEXTS[2:4]), (TEXTS[3], TEXTS[3])):
        status, said = server.post("/v1/score", {"text_1": first, "text_2": second})
        assert status == 200 and [one["index"] for one in said["data"]] == list(range(len(said["data"])))
        left, right = (units[[TEXTS.index(one) for one in ([each] if isinstance(each, str) else each)]]
                       for each in (first, second))
        numpy.testing.assert_allclose([one["score"] for one in said["data"]], (left * right).sum(axis=1), atol=1e-6)
    status, said = server.post("/v1/score", {"text_1": ["a", "b"], "text_2": ["a", "b", "c"]})
    assert (status, said["error"]["message"]) == (400, "text_1 has 2 texts and text_2 3, allowed: one, or as many")


def test_preempted(folder, tokens):
    """A request that loses its pages between two chunks counts each row once."""
    model = kvmlir.load(folder, num_threads=1)
    wide = kvmlir.Server(model, model.create_manager(1, num_pages=64, warn=False))
    want = wide.add(tokens[4], embedding="mean")
    wide.run()
    tight = kvmlir.Server(model, model.create_manager(3, num_pages=14, warn=False), max_batch=3, max_batch_tokens=3)
    older = tight.add(tokens[0], max_new_tokens=200)
    found = tight.add(tokens[4], embedding="mean")
    tight.run()
    assert found.embedding == want.embedding and len(older.tokens) == 200
    assert tight.figures()["preemptions"] > 0


@pytest.mark.parametrize("body, sentence", (
    ({}, "input is None, allowed: a string, a list of token ids, or a list of either"),
    ({"input": [[]]}, "input is [[]], allowed: a string, a list of token ids, or a list of either"),
    ({"input": ""}, "no prompt tokens, at least one is needed"),
    ({"input": "a", "pooling": "sum"}, 'pooling is \'sum\', allowed: "last" or "mean"'),
    ({"input": "a", "encoding_format": "hex"}, 'encoding_format is \'hex\', allowed: "float" or "base64"'),
    ({"input": "a", "dimensions": 8}, "dimensions is 8, allowed: null; kv-serve has nothing else"),
    ({"input": "a", "stream": True}, "stream is no field that kv-serve knows"),
    ({"input": "x" * 600}, "600 prompt tokens, the model takes at most 512"),
))
def test_refusals(server, body, sentence):
    status, said = server.post("/v1/embeddings", body)
    assert (status, said["error"]["message"]) == (400, sentence)
