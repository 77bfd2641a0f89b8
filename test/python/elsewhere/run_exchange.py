"""run_exchange.py PYTHON: keys and values that vLLM computed on the CPU go on here, and ours there, as bytes of
docs/reference/exchange.md: the tokens are those of vLLM alone. PYTHON: of an environment with vLLM (scripts/lib.sh,
engines)."""

import os
import random
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
NAME, MORE = "a small llama", 40
LENGTHS = (1, 2, 15, 16, 17, 31, 32, 33, 40, 47, 48, 49, 63, 64, 65, 70, 95, 96, 97, 111, 128, 150, 177, 200)


class Own:
    """The same model here: pages of 16 tokens, in the order of CPUs, where vLLM's blocks have 32."""

    def __init__(self, folder):
        import kvmlir
        from kvmlir import exchange
        self.exchange, self.context_of = exchange, kvmlir.TextGenerationContext
        self.model = kvmlir.load(folder, num_threads=2)
        self.manager = self.model.create_manager(4, num_pages=64, warn=False)
        self.forward = self.model.prepare("forward")
        self.forward.set_manager(self.manager)

    def claimed(self, tokens):
        context = self.context_of(tokens)
        context.set_reuses_prefix(False)
        self.manager.claim(context.request_id)
        return context

    def step(self, context):
        """The logits of the last token."""
        self.manager.alloc(context)
        self.manager.get_runtime_inputs([context])
        active = context.tokens[context.processed_length:]
        self.forward.bind("tokens", active)
        self.forward.bind("row_offsets", np.array([0, len(active)], np.int32))
        self.forward.bind("logit_rows", np.array([len(active) - 1], np.int32))
        self.forward.execute()
        return self.forward.output("logits").numpy()[0]

    def answer(self, context, count):
        for _ in range(count):
            context.update(int(self.step(context).argmax()))
            self.manager.step([context])
        self.manager.release(context.request_id)
        return context.tokens[-count:].tolist()

    def read(self, prompt, data):
        """(Tokens that were read, the answer)."""
        context = self.claimed(prompt)
        found = self.exchange.read(self.manager, context, data, NAME)
        return found, self.answer(context, MORE)

    def write(self, prompt):
        context = self.claimed(prompt)
        self.step(context)
        context.advance()
        self.manager.step([context])
        data = self.exchange.write(self.manager, context, NAME)
        self.manager.release(context.request_id)
        return data

    def file(self, folder, tokens):
        return folder / f"{self.exchange.prefix_digests(tokens)[-1].hex()}.kvx"


def negated(own, data):
    """The same with other values, as float32."""
    data = bytearray(data)
    for _, rows, _ in own.exchange.parts(data):
        np.negative(rows[:, 1].view(np.float32), out=rows[:, 1].view(np.float32))
    return bytes(data)


def compare(run, own, folder):
    pick = random.Random(11)
    prompts = [[pick.randrange(3, 256) for _ in range(length)] for length in LENGTHS]
    want, _ = run(prompts, None)
    assert len({tuple(one) for one in want}) > len(want) * 0.9
    assert [own.answer(own.claimed(one), MORE) for one in prompts] == want, "the engines do not agree to begin with"

    theirs = folder / "theirs"
    run(prompts, {"exchange_directory": str(theirs), "model": NAME}, max_tokens=1)
    data = [own.file(theirs, prompt).read_bytes() for prompt in prompts]
    found = [own.read(prompt, one) for prompt, one in zip(prompts, data)]
    assert [count for count, _ in found] == [length - 1 for length in LENGTHS]
    assert [tokens for _, tokens in found] == want
    print(f"vLLM to here: {len(prompts)} prompts, {sum(map(len, prompts)) - len(prompts)} tokens read, the tokens after them equal")
    changed = [own.read(prompt, negated(own, one))[1] for prompt, one in zip(prompts, data)]
    assert sum(one != other for one, other in zip(changed, want)) > len(want) // 2, "nobody uses what was read"
    gap = max(np.abs(rows.view(np.float32) - other.view(np.float32)).max()
              for one, prompt in zip(data, prompts)
              for rows, other in [(dense(own, one), dense(own, own.write(prompt)))])
    print(f"vLLM's rows and ours differ by {gap:.1e} at most")
    assert gap < 1e-4

    # To vLLM: of some prompts all tokens, of others a part that ends in a block.
    ours, lengths = folder / "ours", []
    ours.mkdir()
    for i, prompt in enumerate(prompts):
        length = len(prompt) if i % 2 else max(len(prompt) - 7, 1)
        own.file(ours, prompt[:length]).write_bytes(own.write(prompt[:length]))
        lengths.append(min(length, len(prompt) - 1))
    for reuses in (False, True):
        tokens, cached = run(prompts, {"exchange_directory": str(ours), "model": NAME}, max_tokens=MORE, enable_prefix_caching=reuses)
        assert tokens == want and cached == lengths, (cached, lengths)
    print(f"Here to vLLM: {len(prompts)} prompts, {sum(cached)} of {sum(map(len, prompts))} tokens loaded, the tokens after them equal")
    # What ends leaves a file, which the conversation goes on with.
    later = [prompt + answer for prompt, answer in zip(prompts, want)]
    _, cached = run(later, {"exchange_directory": str(ours), "model": NAME}, max_tokens=1)
    assert cached == [len(one) - 1 for one in later], cached
    # Another model's are not read.
    tokens, cached = run(prompts, {"exchange_directory": str(ours), "model": "another"})
    assert tokens == want and not any(cached)
    for prompt in prompts:
        (path := own.file(ours, prompt)).write_bytes(negated(own, path.read_bytes() if path.exists() else own.write(prompt)))
    tokens, cached = run(prompts, {"exchange_directory": str(ours), "model": NAME})
    assert sum(one != other for one, other in zip(tokens, want)) > len(want) // 2, "vLLM does not use what it loads"


def dense(own, data):
    [(it, rows, _)] = own.exchange.parts(data)
    return rows.swapaxes(2, 3).swapaxes(1, 2).reshape(-1, *rows.shape[1:3], *rows.shape[4:])[:it.tokens]


def main(python):
    sys.path.insert(0, str(HERE.parent))
    import conftest  # noqa: F401  where the packages are
    import kvmlir
    from elsewhere.run_vllm import Runs
    from kv_import import synthetic
    from tools import KV_IMPORT, run
    os.environ.setdefault("KV_PYTHON_PACKAGE", str(HERE.parents[2] / "build/release/python"))
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        config = synthetic.make_config("llama", hidden=128, heads=4, head_dim=32)
        synthetic.write_hf(folder / "hf", config, synthetic.make_weights(config))
        done = run(KV_IMPORT, folder / "hf", "-o", folder / "own", "--page", "16", "--dtype", "f32", "--keep-all")
        assert done.returncode == 0, done.stderr
        kvmlir.compile(folder / "own", layout="cpu")
        compare(Runs(python, folder, folder / "hf"), Own(folder / "own"), folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
