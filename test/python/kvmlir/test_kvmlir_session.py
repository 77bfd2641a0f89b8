"""Compile, load, run and serve from Python: the tokens and logits are kv-run's; arrays are shared, not copied;
what is wrong is one sentence."""

import gc
import json
import subprocess
import sys
import threading
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import kvmlir
from kv_import import synthetic
from tools import KV_IMPORT, find, run

KV_RUN = find("kv-run")
PROMPTS = [[5, 6, 7], list(range(40, 75)), [9], list(range(40, 75)) + [3, 4]]
VOCABULARY = 272


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("kvmlir")
    config = synthetic.make_config("llama")
    synthetic.write_hf(path / "hf", config, synthetic.make_weights(config))
    assert run(KV_IMPORT, path / "hf", "-o", path / "model", "--page", "16").returncode == 0
    assert kvmlir.compile(path / "model") == path / "model/model.so"
    return path / "model"


@pytest.fixture(scope="module")
def model(folder):
    return kvmlir.load(folder, num_threads=2)


@pytest.fixture(scope="module")
def answers(folder):
    """kv-run's."""
    lines = [json.dumps({"id": str(i), "tokens": prompt, "max_new_tokens": 8})
             for i, prompt in enumerate(PROMPTS)]
    done = subprocess.run([KV_RUN, folder / "model.so", "--weights", folder / "weights.safetensors",
                           "--no-stream"], input="\n".join(lines), text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return [next(one["tokens"] for one in found if one.get("id") == str(i)) for i in range(len(PROMPTS))]


def refuses(error, text, call, *given, **named):
    with pytest.raises(error) as raised:
        call(*given, **named)
    assert text in str(raised.value) and len(str(raised.value).splitlines()) == 1


def pages(model, **more):
    return model.create_manager(4, num_pages=200, warn=False, **more)


# ---- Runs -----------------------------------------------------------------------------------------------


def decode(forward, manager, contexts, steps):
    """Greedy, by hand: a ragged batch a step."""
    tokens = [[] for _ in contexts]
    for _ in range(steps):
        manager.alloc_batch(contexts)
        manager.get_runtime_inputs(contexts)
        active = [one.tokens[one.processed_length:] for one in contexts]
        offsets = np.cumsum([0, *map(len, active)], dtype=np.int32)
        forward.bind("tokens", np.concatenate(active))
        forward.bind("row_offsets", offsets)
        forward.bind("logit_rows", offsets[1:] - 1)
        forward.execute()
        best = forward.output("logits").numpy().argmax(axis=1)
        kvmlir.update_batch(contexts, best.astype(np.int32))
        manager.step(contexts)
        for own, token in zip(tokens, best):
            own.append(int(token))
    return tokens


def test_a_loop_by_hand(model, answers):
    manager = pages(model)
    forward = model.prepare("forward")
    forward.set_manager(manager)
    contexts = [kvmlir.TextGenerationContext(prompt) for prompt in PROMPTS]
    for one in contexts:
        manager.claim(one.request_id)
    assert decode(forward, manager, contexts, 8) == answers
    # The model keeps what it needs.
    del manager
    gc.collect()
    forward.wait()


def test_execute_by_names(model, answers):
    manager = pages(model)
    context = kvmlir.TextGenerationContext(PROMPTS[0], "by names")
    manager.claim("by names")
    manager.alloc(context)
    manager.fetch([context])
    out = model.execute(tokens=context.tokens, row_offsets=np.array([0, 3], np.int32),
                        logit_rows=np.array([2], np.int32), manager=manager)
    assert list(out) == ["logits"] and out["logits"].shape == (1, VOCABULARY)
    assert int(out["logits"].numpy().argmax()) == answers[0][0]


def test_numbers_of_rows_are_checked(model):
    """An entry that is called by hand reads nothing beside its tables."""
    manager = pages(model)
    request = kvmlir.TextContext([5, 6, 7])
    manager.claim(request.request_id)
    manager.alloc(request)
    manager.get_runtime_inputs([request])

    def step(tokens=(5, 6, 7), rows=(2,)):
        return model.execute(tokens=np.array(tokens, np.int32), row_offsets=np.array([0, len(tokens)], np.int32),
                             logit_rows=np.array(rows, np.int32), manager=manager)["logits"].numpy().copy()

    good = step()
    for bad in (-1, VOCABULARY, VOCABULARY + 1, 2**31 - 1, -2**31):
        refuses(kvmlir.OutOfRangeError, f"tokens: element 2 is {bad}, allowed: 0 to {VOCABULARY - 1}", step, (5, 6, bad))
    for bad in (-1, 3, 2**31 - 1, -2**31):
        refuses(kvmlir.OutOfRangeError, f"logit_rows: element 1 is {bad}, allowed: 0 to 2", step, rows=(0, bad))
    assert np.array_equal(step(), good) and step(rows=(2, 0, 1)).shape == (3, VOCABULARY)
    manager.release(request.request_id)


def test_what_an_artifact_says(folder, model):
    manifest = kvmlir.Manifest.read(folder / "model.so")
    assert manifest == model.manifest
    assert manifest.model_vocab_size == VOCABULARY and manifest.target_kind == "cpu"
    [logits] = manifest.entries["forward"].outputs
    assert logits.dtype is kvmlir.DType.float32 and logits.shape == ("R", VOCABULARY)
    assert {one.kind for one in manifest.entries["forward"].inputs} >= {"input", "weight", "kv.blocks"}
    params = manifest.params
    assert (params.page_size, params.n_kv_heads, params.num_layers) == (16, 2, 2)
    # A manager made of the parameters is one of the model's caches.
    made = kvmlir.load_kv_manager(params, 4, 64, 2, None, num_pages=8, warn=False)
    model.prepare().set_manager(made)


# ---- Serving --------------------------------------------------------------------------------------------


def test_generate(folder, model, answers):
    assert list(kvmlir.generate(folder, PROMPTS[0], max_new_tokens=8)) == answers[0]
    assert list(kvmlir.generate(model, np.array(PROMPTS[1], np.int32), max_new_tokens=8)) == answers[1]
    found = [[] for _ in PROMPTS]
    for index, token in kvmlir.generate(model, PROMPTS, max_new_tokens=8):
        found[index].append(token)
    assert found == answers
    assert list(kvmlir.generate(folder / "model.so", [5], weights=folder / "weights.safetensors",
                                max_new_tokens=2)) == list(kvmlir.generate(model, [5], max_new_tokens=2))
    manager = pages(model)
    tokens = kvmlir.generate(model, PROMPTS[0], manager=manager)
    assert next(tokens) == answers[0][0] and manager.used_blocks_pct > 0
    tokens.close()
    assert manager.used_blocks_pct == 0  # who stops early gives up what is left


def test_streams(model, answers):
    server = kvmlir.Server(model, pages(model), max_batch=2)
    streams = [server.add(prompt, max_new_tokens=8) for prompt in PROMPTS]
    assert server.num_requests == 4
    assert list(streams[3]) == answers[3]  # runs the others, too, as far as needed
    assert [list(one) for one in streams[:3]] == answers[:3]
    assert {one.finish_reason for one in streams} == {"length"}
    assert streams[3].prompt_tokens == 37 and streams[3].cached_tokens == 32
    figures = server.figures()
    assert (figures["requests"], figures["reached_end"], figures["running"]) == (4, 4, 0)
    assert figures["generated_tokens"] == 32 and figures["cache"].cached_tokens == 32
    stopped = server.add(PROMPTS[3], max_new_tokens=None, stop_tokens=[answers[3][-1]])
    assert list(stopped) == answers[3][:answers[3].index(answers[3][-1])] and stopped.finish_reason == "stop"


def test_sampling_depends_on_the_seed_alone(model):
    draw = lambda seed: list(kvmlir.generate(model, [5, 6], max_new_tokens=12, temperature=1.5, top_k=40,
                                             top_p=0.9, seed=seed))
    assert draw(7) == draw(7) != draw(8)


def test_priorities(model, answers):
    """Of requests that wait the smallest begins first, and the answers are the same."""
    server, ended = kvmlir.Server(model, pages(model), max_batch=1), []
    streams = [server.add(prompt, max_new_tokens=8, priority=priority, listener=lambda stream, token: (
        token is None and ended.append(stream))) for prompt, priority in zip(PROMPTS, (0, 3, -1, 0))]
    server.run()
    assert [streams.index(one) for one in ended] == [2, 0, 3, 1]
    assert [one.tokens for one in streams] == answers
    with pytest.raises(ValueError, match="priority"):
        server.add(PROMPTS[0], priority=2**31)


def test_abort(model, answers):
    manager = pages(model)
    server = kvmlir.Server(model, manager)
    gone, kept = server.add(PROMPTS[1], max_new_tokens=None), server.add(PROMPTS[0], max_new_tokens=8)
    first = next(gone)
    gone.abort()
    gone.abort()
    assert list(gone) == [] and gone.finish_reason == "abort" and gone.tokens[0] == first == answers[1][0]
    assert list(kept) == answers[0] and server.num_requests == 0
    assert server.figures()["aborted"] == 1 and manager.used_blocks_pct == 0
    again = server.add(PROMPTS[1], max_new_tokens=8)
    next(again)
    again.abort()
    assert (again.prompt_tokens, again.cached_tokens) == (35, 32)  # who aborts knows what was found


def test_listeners_and_threads(model, answers):
    """One thread steps, others add: the way of a server."""
    server = kvmlir.Server(model, pages(model))
    ended, done = threading.Semaphore(0), threading.Event()
    heard = {}

    def listen(stream, token):
        heard.setdefault(stream.id, []).append(token)
        if token is None:
            ended.release()

    def steps():
        while not done.is_set():
            server.step()

    worker = threading.Thread(target=steps)
    worker.start()
    adders = [threading.Thread(target=lambda i=i: server.add(
        PROMPTS[i % 4], id=f"{i}", max_new_tokens=8, listener=listen)) for i in range(16)]
    for one in adders:
        one.start()
    for _ in range(16):
        assert ended.acquire(timeout=60)
    done.set()
    worker.join()
    assert heard == {f"{i}": [*answers[i % 4], None] for i in range(16)}


def test_a_listener_that_raises_takes_nothing_from_others(model, answers):
    server = kvmlir.Server(model, pages(model))

    def complain(stream, token):
        raise KeyError(stream.id)

    loud = server.add(PROMPTS[0], id="loud", max_new_tokens=1, listener=complain)
    kept = server.add(PROMPTS[1], max_new_tokens=2)
    with pytest.raises(KeyError, match="loud"):
        server.step()
    assert loud.finish_reason == "length" and list(kept) == answers[1][:2]


def test_a_step_releases_the_gil(folder):
    """Another thread runs while long steps are computed."""
    model = kvmlir.load(folder, num_threads=1)
    server = kvmlir.Server(model, model.create_manager(16, num_pages=600, warn=False), max_batch_tokens=8000)
    counts, done = [], threading.Event()

    def count():
        while not done.is_set():
            counts.append(None)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(3)  # longer than all steps: nobody is made to give the GIL up
    try:
        counter = threading.Thread(target=count)
        for first in range(32):
            server.add([first, *range(1, 250), *range(1, 250)], max_new_tokens=1)
        counter.start()
        before = len(counts)
        while len(counts) == before and server.step():
            pass
        done.set()
        counter.join()
    finally:
        sys.setswitchinterval(interval)
    assert len(counts) > before


def test_a_server_that_ends_releases_its_requests(model):
    """Before the manager ends, whose log hears of it."""
    lines = []
    server = kvmlir.Server(model, pages(model, command=lambda replica, line: lines.append(line)))
    server.add(PROMPTS[1], max_new_tokens=50)
    server.step()
    before = len(lines)
    del server
    gc.collect()
    assert len(lines) > before and lines[-1].startswith("release ")


def test_handles_end_in_any_thread(model, answers):
    """While another thread executes."""
    server = kvmlir.Server(model, pages(model))
    streams = [server.add(prompt, max_new_tokens=8) for prompt in PROMPTS]
    ended = threading.Event()

    def make_and_drop():
        while not ended.is_set():
            model.prepare()

    worker = threading.Thread(target=make_and_drop)
    worker.start()
    server.run()
    ended.set()
    worker.join()
    assert [one.tokens for one in streams] == answers


def test_salts_separate(model):
    server = kvmlir.Server(model, pages(model))
    for salt, cached in (("a", 0), ("a", 32), ("b", 0), (None, 0), ("", 0)):
        stream = server.add(PROMPTS[1], max_new_tokens=1, salt=salt)
        server.run()
        assert stream.cached_tokens == cached, salt
    # What C would cut off might be another tenant's salt.
    refuses(ValueError, "salt has a NUL at 1, allowed: a text without", server.add, [1], salt="a\0b")
    refuses(ValueError, "id has a NUL at 0", server.add, [1], id="\0")
    refuses(ValueError, "salt has a NUL at 1", kvmlir.TextGenerationContext([1]).set_scope, salt="a\0")


# ---- Arrays ---------------------------------------------------------------------------------------------


def test_buffers_are_views():
    array = np.arange(6, dtype=np.int32).reshape(2, 3)
    buffer = kvmlir.from_dlpack(array)
    assert (buffer.shape, buffer.strides, buffer.dtype) == ((2, 3), (3, 1), kvmlir.DType.int32)
    assert buffer.__dlpack_device__() == (1, 0) and buffer.device == "cpu:0"
    for view in (buffer.numpy(), buffer.to_numpy(), np.from_dlpack(buffer), np.asarray(buffer)):
        assert np.shares_memory(view, array)
    assert not np.shares_memory(np.array(buffer, copy=True), array)
    buffer.numpy()[0, 0] = 9
    assert array[0, 0] == 9
    again = kvmlir.from_dlpack(buffer)
    assert np.shares_memory(again.numpy(), array)
    view = kvmlir.from_dlpack(np.full(3, 7.0, np.float32)).numpy()
    gc.collect()
    assert view.tolist() == [7, 7, 7]  # the view keeps the memory
    fixed = np.zeros(2, np.int64)
    fixed.flags.writeable = False
    assert kvmlir.from_dlpack(fixed).read_only and not kvmlir.from_dlpack(fixed).numpy().flags.writeable
    for kind in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2):
        array = np.ones(4, kind)
        buffer = kvmlir.Buffer.from_numpy(array)
        assert buffer.numpy().dtype == kind and np.shares_memory(buffer.numpy(), array)
    refuses(ValueError, "a list is given, allowed: an array with __dlpack__ or a buffer", kvmlir.from_dlpack, [1])
    refuses(ValueError, "the array has elements of 64 bits", kvmlir.from_dlpack, np.zeros(2))


def test_torch_shares_memory():
    """Where it is installed; CI has the protocol, which numpy speaks as well."""
    torch = sys.modules.get("torch")
    try:
        import torch
    except ImportError:
        # Not a skip: what torch would call is called by hand.
        capsule = kvmlir.from_dlpack(np.zeros(2, np.float32)).__dlpack__()
        assert "dltensor" in repr(capsule)
        return
    tensor = torch.arange(4, dtype=torch.int32)
    buffer = kvmlir.from_dlpack(tensor)
    assert torch.from_dlpack(buffer).data_ptr() == tensor.data_ptr()
    assert kvmlir.from_dlpack(torch.ones(3, dtype=torch.bfloat16)).dtype is kvmlir.DType.bfloat16


def test_the_caches_memory_is_shared(model):
    manager = pages(model)
    context = kvmlir.TextGenerationContext([1, 2, 3])
    manager.claim(context.request_id)
    manager.alloc(context)
    [inputs] = manager.fetch([context])
    blocks = inputs.blocks.numpy()
    assert blocks.dtype == ml_dtypes.bfloat16 and np.shares_memory(blocks, inputs.blocks.numpy())
    model.execute(tokens=context.tokens, row_offsets=np.array([0, 3], np.int32),
                  logit_rows=np.array([2], np.int32), manager=manager)
    page = inputs.lookup_table.numpy()[0, 0]
    assert np.count_nonzero(blocks[page].astype(np.float32)) > 0
    context.advance()
    manager.step([context])
    # The memory lives as long as a view.
    del manager, inputs
    gc.collect()
    assert np.count_nonzero(blocks[page].astype(np.float32)) > 0


def test_outputs(model):
    """An output keeps its memory, also when it is the caller's."""
    manager = pages(model)
    context = kvmlir.TextGenerationContext([1, 2, 3])
    manager.claim(context.request_id)
    manager.alloc(context)
    manager.fetch([context])
    forward = model.prepare()
    forward.set_manager(manager)
    forward.bind("tokens", np.array([1, 2, 3], np.int32))
    forward.bind("row_offsets", np.array([0, 3], np.int32))
    forward.bind("logit_rows", np.array([2], np.int32))
    forward.execute()
    first = forward.output("logits").numpy()
    forward.bind("tokens", np.array([1, 2, 4], np.int32))
    forward.execute()
    second = forward.output("logits").numpy()
    assert not np.shares_memory(first, second) and (first != second).any()
    own = np.zeros((1, VOCABULARY), np.float32)
    forward.bind("logits", own)
    forward.execute()
    assert (own == second).all() and np.shares_memory(forward.output("logits").numpy(), own)
    own.flags.writeable = False
    refuses(ValueError, "entry forward: logits: the tensor is read-only, and the entry writes to it",
            forward.bind, "logits", own)


# ---- Errors ---------------------------------------------------------------------------------------------


def test_what_is_refused(folder, model, tmp_path, monkeypatch):
    forward = model.prepare()
    refuses(ValueError, "entry forward: tokens: the tensor has rank 2, expected 1",
            forward.bind, "tokens", np.zeros((2, 2), np.int32))
    refuses(ValueError, "entry forward: tokens: the tensor has the element type i64, expected i32",
            forward.bind, "tokens", np.zeros(2, np.int64))
    refuses(ValueError, "entry forward: tokens: the tensor has the stride 2 in dimension 0, expected 1",
            forward.bind, "tokens", np.zeros(4, np.int32)[::2])
    refuses(ValueError, "entry forward: not bound: tokens, row_offsets", forward.execute)
    refuses(ValueError, 'no entry "backward", there are: forward', model.prepare, "backward")
    refuses(ValueError, "No such file", kvmlir.InferenceSession().load, tmp_path / "no.so")
    refuses(FileNotFoundError, "no model.so; kvmlir.compile", kvmlir.load, tmp_path)
    refuses(ValueError, "devices are cpu:0, cpu:1, allowed: one", kvmlir.InferenceSession, ["cpu", "cpu:1"])
    refuses(ValueError, "allowed: a Device, or a name", kvmlir.InferenceSession, [3])
    refuses(ValueError, "-1 threads, allowed: 0", kvmlir.InferenceSession, num_threads=-1)
    refuses(FileNotFoundError, "there is no such module", kvmlir.compile, tmp_path / "no.mlir")
    refuses(ValueError, "output is not given", kvmlir.compile, "a\nb")
    refuses(ValueError, "weight", kvmlir.Server, kvmlir.InferenceSession().load(folder / "model.so"), pages(model))
    other = kvmlir.KVCacheParams("f32", 1, 4, 2)
    refuses(ValueError, "kv.blocks", kvmlir.Server, model,
            kvmlir.load_kv_manager(other, 1, 32, 2, None, num_pages=4, warn=False))

    server = kvmlir.Server(model)
    refuses(ValueError, "tokens[1] is 272, the vocabulary is 0 to 271", server.add, [1, 272])
    refuses(ValueError, "tokens[1] is 'b', allowed: an integer of 32 bits", server.add, [1, "b"])
    refuses(ValueError, "no prompt tokens", server.add, [])
    refuses(ValueError, "max_new_tokens is 0", server.add, [1], max_new_tokens=0)
    refuses(ValueError, "top_p is 0", server.add, [1], top_p=0)
    refuses(ValueError, "temperature is -1", server.add, [1], temperature=-1)
    refuses(ValueError, "prompts is a str", kvmlir.generate, model, "text")
    small = kvmlir.Server(model, model.create_manager(1, 512, num_pages=2, warn=False))
    refuses(MemoryError, "the cache has 2", small.add, list(range(40)))
    assert server.num_requests == 0

    monkeypatch.delenv("KV_COMPILE", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    refuses(kvmlir.CompilerNotFoundError, "kv-compile is not there", kvmlir.compile, folder)


def test_a_module_that_does_not_compile(tmp_path):
    (tmp_path / "bad.mlir").write_text("func.func @f() { return %x : i32 }\n")
    with pytest.raises(kvmlir.CompileError, match="bad.mlir:1:"):
        kvmlir.compile(tmp_path / "bad.mlir")


def test_stale_handles_and_names(model):
    manager = pages(model)
    manager.claim("a")
    refuses(ValueError, 'request "a" is claimed already', manager.claim, "a")
    refuses(ValueError, 'request "b" is not claimed', manager.release, "b")
    manager.release("a")
    manager.claim("a")
    for wrong in (-1, 2**63):
        refuses(ValueError, "allowed: a string, or an integer from 0 to 2**63 - 1", manager.claim, wrong)
    with pytest.raises(TypeError):
        manager.claim()


def test_nothing_leaks():
    """The interpreter ends without nanobind's complaint that something is left."""
    program = """
import kvmlir, numpy
manager = kvmlir.PagedKVCacheManager(kvmlir.KVCacheParams("f32", 1, 4, 1), 1, 256, 1, None, None, 1 << 20)
context = kvmlir.TextGenerationContext([1, 2])
manager.claim(context.request_id); manager.alloc(context)
view = manager.fetch([context])[0].blocks.numpy()
"""
    package = str(next(p for p in sys.path if kvmlir.__file__.startswith(p + "/")))
    done = subprocess.run([sys.executable, "-c", program], env={"PYTHONPATH": package}, text=True,
                          capture_output=True, timeout=60)
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_stubs_and_docstrings():
    """Every public name says what it is; the extension has a stub beside it."""
    public = {name: getattr(kvmlir, name) for name in kvmlir.__all__}
    silent = [name for name, one in public.items()
              if isinstance(one, type) or callable(one) and name != "RequestID"
              if not (one.__doc__ or "").strip()]
    assert silent == []
    folder = Path(kvmlir.__file__).parent
    stub = (folder / "_kvmlir.pyi").read_text()
    for text in ("class Buffer:", "class Manager:", "def update_batch(",
                 "def alloc(self, data: TextGenerationContext, num_steps: int = 1)"):
        assert text in stub
    compile(stub, "_kvmlir.pyi", "exec")
    assert (folder / "py.typed").exists()


def test_log_probabilities(model, answers):
    """Equal bits cold and warm, of an answer and of the same tokens as a prompt."""
    server = kvmlir.Server(model, pages(model))
    cold, warm = (server.add(PROMPTS[3], max_new_tokens=8, logprobs=VOCABULARY) for _ in range(2))
    server.run()
    again = server.add(PROMPTS[3], max_new_tokens=8, logprobs=2)
    assert list(again) == cold.tokens == answers[3] and again.cached_tokens == 32
    assert cold.logprobs == warm.logprobs
    assert [(value, rank, top[:2]) for value, rank, top in cold.logprobs] == again.logprobs
    for token, (value, rank, top) in zip(cold.tokens, cold.logprobs):
        assert rank == 1 and top[0] == (token, value) and sorted(token for token, _ in top) == list(range(VOCABULARY))
        assert abs(np.exp([each for _, each in top]).sum() - 1) < 1e-5
    whole = server.add(PROMPTS[3] + answers[3], max_new_tokens=1, prompt_logprobs=0)
    server.run()
    assert whole.cached_tokens == 0 and len(whole.prompt_logprobs) == len(PROMPTS[3]) + 7 and not whole.logprobs
    assert [value for value, _, _ in whole.prompt_logprobs[-8:]] == [value for value, _, _ in cold.logprobs]


def test_log_probabilities_of_prompts_are_cached(model):
    """Equal bits cold and warm, and only one token beyond what any hit leaves is computed."""
    cold = kvmlir.Server(model, pages(model))
    server = kvmlir.Server(model, pages(model, cached_logprobs=5))
    assert (cold.manager.payload_bytes_per_token, server.manager.payload_bytes_per_token) == (0, 48)
    prompt = [(7 * i) % VOCABULARY for i in range(75)]
    page = model.params.page_size
    full = 74 // page * page

    def serve(server, **more):
        before = server.figures()["prefill_tokens"]
        stream = server.add(prompt, max_new_tokens=1, logprobs=1, **more)
        server.run()
        assert server.figures()["prefill_tokens"] - before == 75 - stream.cached_tokens
        return stream.cached_tokens, stream.prompt_logprobs, stream.logprobs

    wanted = [serve(cold, prompt_logprobs=count) for count in range(7)]
    assert all(cached == 0 for cached, *_ in wanted)
    assert serve(server)[0] == 0
    found = [serve(server, prompt_logprobs=count) for count in range(7)]
    assert [cached for cached, *_ in found] == [0] + [full - 1] * 5 + [0]
    assert [known for _, *known in found] == [known for _, *known in wanted]
    assert serve(server)[0] == full


def test_rules_of_logits(model, answers):
    server = kvmlir.Server(model, pages(model))
    add = lambda **more: list(server.add(PROMPTS[0], max_new_tokens=8, **more))
    assert add(logit_bias={7: 1000}) == [7] * 8
    assert add(logit_bias={7: 1000}, presence_penalty=2000)[:2] == [7, answers[0][0]]
    stop = answers[0][0]
    assert add(stop_tokens=[stop]) == [] and len(add(stop_tokens=[stop], min_new_tokens=3)) >= 3
    assert len(set(add(repetition_penalty=1e6))) == 8
    seen = []

    def even(answer, allowed):
        seen.append(list(answer))
        assert allowed.dtype == np.uint32 and len(allowed) == (VOCABULARY + 31) // 32 and not allowed.any()
        allowed[:] = 0x55555555

    tokens = add(mask=even)
    assert all(token % 2 == 0 for token in tokens) and seen == [tokens[:i] for i in range(8)]


def test_a_mask_that_fails_fails_its_request(model, answers):
    server = kvmlir.Server(model, pages(model))

    def complain(answer, allowed):
        raise KeyError("no such rule")

    bad = server.add(PROMPTS[0], id="bad", mask=complain)
    none = server.add(PROMPTS[0], id="none", mask=lambda answer, allowed: None)
    kept = server.add(PROMPTS[1], max_new_tokens=8)
    server.run()
    assert bad.error == "request bad: token 0: its mask returned 1: 'no such rule'"
    assert none.error == "request none: token 0: the mask allows no token"
    assert kept.tokens == answers[1]


def test_drafts_change_no_token(model, answers):
    """Whoever guesses, and however well."""
    server = kvmlir.Server(model, pages(model), ngram=4)
    right = server.add(PROMPTS[0], max_new_tokens=8, drafts=lambda answer: answers[0][len(answer):])
    wrong = server.add(PROMPTS[1], max_new_tokens=8, drafts=lambda answer: [1, 2, 3])
    more = server.add([5, 6] * 9, max_new_tokens=8)

    def complain(answer):
        raise KeyError("no idea")

    bad = [server.add(PROMPTS[0], id="bad", drafts=given)
           for given in (complain,)] + [server.add(PROMPTS[0], id="far", drafts=lambda answer: [2**20])]
    server.run()
    assert right.tokens == answers[0] and wrong.tokens == answers[1]
    assert more.tokens == list(kvmlir.generate(model, [5, 6] * 9, max_new_tokens=8))
    figures = server.figures()
    assert 6 <= figures["accepted_tokens"] < figures["draft_tokens"]
    assert [one.error for one in bad] == [
        "request bad: its drafts returned -1, allowed: 0 to 64: 'no idea'",
        "request far: its drafts have the token 1048576, the vocabulary is 0 to 271"]


@pytest.mark.parametrize("given, says", (
    ({"logprobs": -1}, "logprobs is -1, allowed: None, or 0 or more"),
    ({"prompt_logprobs": 273}, "prompt log probabilities of 273 tokens, allowed: 0 to 272"),
    ({"logit_bias": {272: 1}}, "a logit bias is of token 272, the vocabulary is 0 to 271"),
    ({"repetition_penalty": -1}, "repetition penalty is -1.000000, allowed: above 0"),
    ({"presence_penalty": float("nan")}, "presence penalty is nan, allowed: a finite number"),
    ({"logit_bias": "5"}, "logit_bias is '5', allowed: numbers by token ids"),
    ({"logit_bias": {"5": 1}}, "logit_bias is {'5': 1}, allowed: numbers by token ids"),
    ({"logit_bias": {2**40: 1}}, "logit_bias is"),
    ({"logprobs": "all"}, "logprobs is 'all', allowed: None, or 0 or more"),
    ({"mask": 5}, "mask is 5, allowed: a function of the answer and an array"),
    ({"drafts": 5}, "drafts is 5, allowed: a function of the answer"),
    ({"frequency_penalty": "much"}, "frequency_penalty is 'much', allowed: a number that fits"),
    ({"min_new_tokens": -1}, "at least -1 new tokens, allowed: 0 or more")))
def test_bad_rules(model, given, says):
    refuses(ValueError, says, kvmlir.Server(model, pages(model)).add, [1], **given)
