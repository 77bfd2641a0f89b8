"""run_transformers.py [NAME...]: model.generate() of transformers with a kvmlir.transformers.PagedCache gives the tokens
that it gives without, and a second request finds the pages of the prefix that it shares with the first. Random small
models; run by scripts/test-full.sh in the exporters' environment."""

import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "build/release/python"), str(ROOT / "test/python/raise"), str(ROOT / "test/python")]

import torch  # noqa: E402
import transformers  # noqa: E402
from architectures import ARCHITECTURES  # noqa: E402
from check_models import make  # noqa: E402
from kvmlir.transformers import PagedCache, PagePool  # noqa: E402

EQUAL = ("llama", "qwen2", "qwen3", "qwen3_moe", "gemma", "gemma2", "gemma3", "phi3", "mistral", "mixtral", "deepseek_v2_experts",
         "deepseek_v3_experts", "olmo2", "granite", "gpt_oss", "smollm3", "cohere2", "stablelm", "starcoder2", "gpt2",
         "gpt_neox", "opt", "bloom", "falcon", "llama4", "gemma3n", "gemma4", "mpt")
ONLY_KEYS = "allowed: attention over keys and values alone"
REFUSED = {"qwen3_next_experts": ONLY_KEYS, "lfm2": ONLY_KEYS, "mamba2": ONLY_KEYS, "deepseek_v32": ONLY_KEYS,
           "rwkv": ONLY_KEYS, "minimax": ONLY_KEYS, "falcon_h1": ONLY_KEYS}
PAGE, SHARED, MORE = 16, 38, 24


def model_of(name):
    _, kind, settings = ARCHITECTURES[name]
    with tempfile.TemporaryDirectory() as folder:
        model = make(name, folder, kind, settings)
    model.generation_config.eos_token_id = None
    return model


def draw(seed, rows, count):
    return torch.randint(3, 300, (rows, count), generator=torch.Generator().manual_seed(seed))


def generate(model, ids, cache=None, **more):
    named = {"past_key_values": cache} if cache else {}
    # Greedy, but no token twice: random models like to say one again and again.
    greedy = dict(max_new_tokens=MORE, do_sample=False, no_repeat_ngram_size=1, pad_token_id=0, use_cache=True)
    return model.generate(ids, **{**greedy, **named, **more})


def check_same(model, ids, cache, **more):
    wanted, found = generate(model, ids, **more), generate(model, ids, cache, **more)
    assert torch.equal(wanted, found), (wanted, found)
    return cache.cached_tokens


def check_equal(name):
    model = model_of(name)
    pool = PagePool(model, 64, page_size=PAGE)
    first = draw(1, 1, 45)
    second = torch.cat([first[:, :SHARED], draw(2, 1, 9)], dim=1)
    assert check_same(model, first, PagedCache(pool, first)) == [0]
    # All its pages are found again, but for the last token, and the answer is what it was.
    assert check_same(model, first, PagedCache(pool, first)) == [45 // PAGE * PAGE]
    assert check_same(model, second, PagedCache(pool, second)) == [SHARED // PAGE * PAGE]
    assert pool.manager.num_free_blocks == 64
    pool.manager.check()
    # The tokens do come from the pages that were found.
    for plane in pool.planes:
        if plane is not None:
            plane[1][:] *= -3
    assert not torch.equal(generate(model, second), generate(model, second, PagedCache(pool, second)))


def expect(sentence, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except (ValueError, MemoryError) as error:
        assert re.search(sentence, str(error)), error
    else:
        raise AssertionError(f"nothing was refused, expected: {sentence}")


def check_rows():
    """Several rows, padding, chunks, a conversation that goes on, and requests at a time."""
    model = model_of("llama")
    pool = PagePool(model, 64, page_size=PAGE)
    ids, mask = draw(3, 3, 50), torch.ones(3, 50, dtype=torch.long)
    ids[2] = ids[0].roll(7)
    ids[1, :20] = ids[2, :7] = mask[1, :20] = mask[2, :7] = 0
    cache = PagedCache(pool, ids, mask)
    assert check_same(model, ids, cache, attention_mask=mask) == [0, 0, 0]
    answer = generate(model, ids, attention_mask=mask)
    # Row 2 is the begin of row 0. Each row has a hit of its own, and tokens that a hit of another row lacks are computed.
    assert check_same(model, ids, PagedCache(pool, ids, mask), attention_mask=mask) == [48, 16, 32]
    later, later_mask = torch.cat([answer, draw(4, 3, 5)], 1), torch.ones(3, 50 + MORE + 5, dtype=torch.long)
    later_mask[:, :50] = mask
    wanted = generate(model, later, attention_mask=later_mask)
    assert torch.equal(generate(model, later, cache, attention_mask=later_mask), wanted)
    again = PagedCache(pool, later, later_mask)
    assert again.cached_tokens == [64, 48, 64], again.cached_tokens  # answers were found too
    assert torch.equal(generate(model, later, again, attention_mask=later_mask, prefill_chunk_size=7), wanted)
    other = PagedCache(pool, ids[:1], salt="tenant")
    assert check_same(model, ids[:1], other, prefill_chunk_size=7) == [0]
    assert pool.manager.num_free_blocks < 64
    for one in (cache, again, other):
        one.release()
    assert pool.manager.num_free_blocks == 64
    pool.manager.check()


def check_sentences():
    model = model_of("llama")
    pool, ids = PagePool(model, 8, page_size=PAGE), draw(5, 1, 20)
    expect(r"2 rows are given, the PagedCache has 1", generate, model, ids, PagedCache(pool, ids), num_beams=2)
    expect("those of the input_ids", generate, model, draw(6, 1, 20), PagedCache(pool, ids))
    mask = torch.ones_like(ids)
    mask[0, :3] = 0
    expect("attention_mask is not the one", generate, model, ids, PagedCache(pool, ids), attention_mask=mask)
    expect("allowed: zeros, then", PagedCache, pool, ids, 1 - mask)
    expect("the shape", PagedCache, pool, ids[0])
    expect("is released", lambda: (cache := PagedCache(pool, ids)).release() or generate(model, ids, cache))
    expect("another model than", generate, model_of("llama"), ids, PagedCache(pool, ids))
    with torch.no_grad():
        padded = PagedCache(pool, ids, mask)
        expect("needs them", model, ids, attention_mask=mask, past_key_values=padded)
        expect("attention_mask is not the one", model, ids[:, 3:], position_ids=torch.arange(17)[None], past_key_values=padded)
        expect("not by its name", model, ids, None, None, PagedCache(pool, ids))
        expect("each token's place", model, ids, position_ids=torch.arange(1, 21)[None], past_key_values=PagedCache(pool, ids))
        expect("input_ids is not given", model, past_key_values=PagedCache(pool, ids))
        expect("inputs_embeds is given", model, inputs_embeds=torch.zeros(1, 20, 96), past_key_values=PagedCache(pool, ids))
    expect("use_cache is False", generate, model, ids, PagedCache(pool, ids), use_cache=False)
    expect("no_grad", model, ids, past_key_values=PagedCache(pool, ids))
    assert pool.manager.num_free_blocks == 8 - 2, pool.manager.num_free_blocks  # padded lives
    # What failed has left no page that can be found.
    assert check_same(model, ids, PagedCache(pool, ids)) == [0]
    long = draw(7, 1, 100)  # padded has two of the eight pages
    expect("needs 2 more pages, 1 of", generate, model, long, PagedCache(pool, long[:, :80]))
    expect("rope_type 'dynamic'", PagePool, transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=8, hidden_size=8, num_hidden_layers=1, num_attention_heads=1,
        rope_parameters={"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0})), 8)
    expect("has an encoder", PagePool, transformers.T5ForConditionalGeneration(transformers.T5Config(
        vocab_size=8, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2)), 8)


def main():
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    names = sys.argv[1:]
    for name in names or EQUAL:
        try:
            check_equal(name)
        except AssertionError as error:
            sys.exit(f"{name}: {error}")
        print(f"{name}: the tokens of generate(), and hits", flush=True)
    if not names:
        check_rows()
        check_sentences()
        for name, sentence in REFUSED.items():
            expect(sentence, PagePool, model_of(name), 64)
        print(f"{len(EQUAL)} architectures with equal tokens, {len(REFUSED)} refused")


main()
