"""Models with recurrent layers in Python: parameters from the manifest, a server with prefix hits, a step by hand."""

import numpy as np
import pytest

import kvmlir
from kv_import import synthetic
from tools import KV_IMPORT, run


@pytest.fixture(scope="module", params=("qwen3_next", "granite_hybrid"))
def model(request, tmp_path_factory):
    path = tmp_path_factory.mktemp(request.param)
    config = synthetic.make_config(request.param)
    synthetic.write_hf(path / "hf", config, synthetic.make_weights(config, seed=4))
    assert run(KV_IMPORT, path / "hf", "-o", path / "model", "--page", "16").returncode == 0
    kvmlir.compile(path / "model")
    return kvmlir.load(path / "model", num_threads=2)


def test_parameters(model):
    strategies = [one.cache_strategy for one in model.params.params]
    assert strategies == [kvmlir.KVCacheStrategy.PAGED, *[kvmlir.KVCacheStrategy.RECURRENT] * 2]
    assert model.params.params[0].enable_prefix_caching


def serve(model, prompts, **options):
    manager = model.create_manager(max_batch_size=4, num_pages=80, warn=False)
    server = kvmlir.Server(model, manager, **options)
    answers, cached = [], []
    for prompt in prompts:
        stream = server.add([int(t) for t in prompt], max_new_tokens=12)
        answers.append(list(stream))
        cached.append(stream.cached_tokens)
    return answers, cached


def test_hits_change_no_token(model):
    random = np.random.default_rng(2)
    common = random.integers(0, 256, 40)
    prompts = [np.concatenate([common, random.integers(0, 256, 9)]) for _ in range(3)]
    prompts.append(prompts[0])
    alone = [serve(model, [prompt])[0][0] for prompt in prompts]
    answers, cached = serve(model, prompts, max_batch_tokens=30)
    assert answers == alone
    # The second one finds that prompts part behind two pages; the fourth is the first one.
    assert cached == [0, 0, 32, 48]


def test_steps_by_hand_end_where_states_are_kept(model):
    """alloc() may shorten a step: a caller computes active_length tokens."""
    tokens = np.random.default_rng(3).integers(0, 256, 40).tolist()
    manager = model.create_manager(max_batch_size=1, num_pages=8, warn=False)
    forward = model.prepare("forward")
    forward.set_manager(manager)
    context = kvmlir.TextGenerationContext(tokens)
    manager.claim(context.request_id)
    done = []
    while not done or done[-1] < len(tokens):
        manager.alloc(context)
        begin = done[-1] if done else 0
        count = context.active_length
        inputs = manager.get_runtime_inputs([context])
        assert len(inputs) == 3 and inputs[1].lookup_table.numpy().shape == (1, 2)
        for name, array in (("tokens", tokens[begin:begin + count]), ("row_offsets", [0, count]),
                            ("logit_rows", [count - 1])):
            forward.bind(name, np.array(array, np.int32))
        forward.execute()
        done.append(begin + count)
        if done[-1] == len(tokens):
            first = int(forward.output("logits").numpy().argmax())
            context.update(first)
        else:
            context.advance()
        manager.step([context])
    assert done == [32, 40]
    assert serve(model, [tokens])[0][0][0] == first


def test_no_drafts_are_taken(model):
    """A state cannot go back: a request's own drafts are not asked for, and the server's are refused."""
    manager = model.create_manager(max_batch_size=4, num_pages=80, warn=False)
    with pytest.raises(kvmlir.UnsupportedError, match="ngram is 4, allowed: 0, since the model's recurrent states"):
        kvmlir.Server(model, manager, ngram=4)
    server, asked = kvmlir.Server(model, manager), []
    stream = server.add([1, 2, 3], max_new_tokens=5, drafts=lambda answer: asked.append(answer))
    assert list(stream) == serve(model, [[1, 2, 3]])[0][0][:5] and not asked
