"""kv-serve on a GPU, which is the fake driver."""

import os
import string
from pathlib import Path

import pytest

from kv_import import synthetic
from serve_process import Serve, import_model
from tools import ROOT

FAKE = os.environ.get("KV_FAKE_CUDA", ROOT / "build/release/lib/libkv_fake_cuda.so")
pytestmark = pytest.mark.skipif(not Path(FAKE).exists(), reason="the fake driver is not built")
PROMPTS = list(string.ascii_lowercase)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    config = synthetic.make_config("llama", head_dim=64)
    return import_model(tmp_path_factory.mktemp("gpu"), config, synthetic.make_weights(config),
                        "--embeddings", target="cuda:sm_80,sm_90a")


def test_an_answer_does_not_depend_on_the_requests_beside_it(folder):
    """The fake driver sums products of at most 16 rows in two parts, unless --deterministic excludes it."""
    environment = {**os.environ, "KV_CUDA_DRIVER": str(FAKE)}
    with Serve(folder, "--device", "cuda:0", "--pages", 64, "--max-batch", len(PROMPTS), "--deterministic",
               env=environment) as server:
        def answers(prompts):
            """The tokens' log probabilities: all bits of what a draw sees."""
            done = server.client().completions.create(model="tiny", prompt=prompts, max_tokens=16,
                                                      logprobs=1, temperature=0)
            return [choice.logprobs.token_logprobs for choice in sorted(done.choices, key=lambda one: one.index)]

        alone = [answers([prompt])[0] for prompt in PROMPTS]
        def embeddings(prompts):
            return [one.embedding for one in server.client().embeddings.create(
                model="tiny", input=prompts, extra_body={"pooling": "mean"}).data]

        # More than once: a quick request ends before many others have begun.
        together = [answers(PROMPTS) for _ in range(2)]
        texts = [prompt * 20 for prompt in PROMPTS]
        assert embeddings(texts) == [embeddings([text])[0] for text in texts]
        assert len(set(map(tuple, embeddings(texts)))) == len(texts)
    assert together == [alone] * len(together)
