"""Runs the files of test/conformance/scenarios through kvmlir, as kv-conformance runs them through the C interface.
test/conformance/README.md says what a file holds."""

import json
import random
import re
import tempfile
import warnings
from pathlib import Path

import numpy as np

import kvmlir
from kvmlir import TextGenerationContext

# The methods that MAX calls otherwise as well.
OLDER = {"claim": "external_claim", "get_runtime_inputs": "fetch", "get_symbolic_inputs": "input_symbols"}
REASONS = {"group_lacks_it": "group_lacks"}
REFUSALS = {"never_fits": "never"}
DTYPES = {"f8": "float8_e4m3fn", "f8e5m2": "float8_e5m2", "f8e8m0": "float8_e8m0fnu"}
METRICS = {"disk_pages_read": "disk_blocks_read", "disk_pages_written": "disk_blocks_written"}
SECOND = 10**9


def tokens_of(given):
    """"0-4,9" is 0 1 2 3 4 9; a list stands for itself."""
    if not isinstance(given, str):
        return list(given)
    ends = ([int(end) for end in part.split("-")] for part in given.split(","))
    return [token for one in ends for token in range(one[0], one[-1] + 1)]


def in_python(message):
    """A message of the C interface with Python's names."""
    def snake(name):
        return re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), name[0])
    return re.sub(r"^kv_((manager|request)_)?", "", re.sub(r"\b[a-z]+(?:[A-Z][a-z]+)+", snake, message))


class Scenario:
    def __init__(self, path, older=False):
        """older: calls methods by their older names, and maybe_reserve() instead of alloc()."""
        self.file, self.older, self.called, self.checks = json.loads(Path(path).read_text()), older, set(), 0
        self.requests, self.page_of, self.before, self.allocation, self.plan, self.result = {}, {}, {}, None, None, None
        self.payloads = {}
        self.refusal, self.inputs, self.where, self.manager = "none", [], "manager", None

    def run(self):
        with tempfile.TemporaryDirectory() as self.disk:
            if "manager" in self.file:
                self.create(self.file["manager"])
            for step in self.file["steps"]:
                for inner in step.get("steps", []) * step["repeat"] if "repeat" in step else [step]:
                    self.where = inner
                    self.run_step(inner)

    # ---- The manager ------------------------------------------------------------------------------------

    @staticmethod
    def params(fields, heads=1, dim=1, page=1):
        """The parameters that the fields give, or else these sizes."""
        replicas, shards = fields.get("replicas", 1), fields.get("shards", 1)
        caches, host_gb = [], fields.get("host_gb")
        if "host_pages" in fields and "do" not in fields:  # keys and values of 4 bytes
            elements = sum(2 * {**fields, **one}.get("layers", 1) for one in fields.get("collections", [{}]))
            host_gb = fields["host_pages"] * fields.get("page", page) * elements * 4 * shards / 2**30
        for i, other in enumerate(fields.get("collections", [{}])):
            own = {**fields, **other}
            latent, is_continuous = own.get("v_dim", 0), own.get("continuous", 0)
            config = kvmlir.KVCacheQuantizationConfig("f32", own["scale_group"]) if "scale_group" in own else None
            caches.append(kvmlir.KVCacheParams(
                DTYPES.get(own.get("dtype"), own.get("dtype", "f32")),
                own.get("heads", heads) * (1 if latent else shards), own.get("dim", dim), own.get("layers", 1),
                name="abcd"[i], n_devices=own.get("n_devices", shards * replicas),
                page_size=own.get("page", page) or (0 if is_continuous else 128), window=own.get("window", 0),
                page_layers=own.get("page_layers", 0), is_mla=bool(latent), v_head_dim=latent,
                kvcache_quant_config=config, data_parallel_degree=replicas,
                enable_prefix_caching=bool(own.get("prefix_caching", not is_continuous)),
                speculative_method=own.get("method"), num_draft_tokens=own.get("draft_tokens", 0),
                kv_connector=own.get("connector"), host_kvcache_swap_space_gb=host_gb,
                layout=own.get("layout", "nhd"), cache_strategy="continuous" if is_continuous else "paged"))
        return caches[0] if len(caches) == 1 else kvmlir.MultiKVCacheParams.from_params(*caches)

    def create(self, fields):
        self.requests, self.page_of, self.inputs, self.manager = {}, {}, [], None
        count = fields.get("replicas", 1) * fields.get("shards", 1)
        places = fields.get("devices") or [f"cpu:{i}" for i in range(count)]
        options = {name: fields[name] for name in ("max_steps", "max_chunk_tokens", "disk_bytes", "cached_logprobs")
                   if name in fields}
        options |= {name: bool(fields[name]) for name in ("asynchronous", "asynchronous_loads") if name in fields}
        options |= {"without_prefix_affinity": bool(fields.get("without_affinity")), "enable_runtime_checks": True}
        if "disk_bytes" in fields:
            options["disk_directory"] = self.disk
        seq = fields.get("max_seq_len", fields["page"] if fields.get("continuous") else 1024)
        if not fields.get("continuous"):
            options["num_pages"] = fields.get("pages", 0)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            try:
                params = self.params(fields)
                self.manager = kvmlir.load_kv_manager(params, fields.get("batch", 8), seq, None, places, None,
                                                      fields.get("memory", 0), params.page_size, **options)
            except (kvmlir.KVError, ValueError) as refused:
                sentence = fields.get("error_in_python", fields.get("error", "none"))
                return self.equal("error", str(refused), in_python(sentence))
        assert "error" not in fields, self.where
        if "warning" in fields:
            self.equal("warning", "".join(str(one.message) for one in heard), in_python(fields["warning"]))
        self.shards = fields.get("shards", 1)
        self.caches = getattr(params, "params", None) or [params]

    # ---- Steps ------------------------------------------------------------------------------------------

    def figures(self):
        """What a call that is refused may not change."""
        if not self.manager:
            return None
        metrics = self.manager.metrics
        return (self.free_of(), metrics.input_tokens, metrics.cached_tokens,
                [one.processed_length for one in self.requests.values()])

    def free_of(self):
        return [self.manager.num_free_blocks_of(i) for i in range(self.manager.num_replicas)]

    def run_step(self, step):
        if step.get("in_c_only"):
            return
        if step.get("do") == "manager":
            return self.create(step)
        before, error = self.figures(), None
        try:
            if "do" in step:
                self.perform(step["do"], step)
        except (kvmlir.KVError, ValueError, MemoryError) as refused:
            error = refused
            self.refusal = REFUSALS.get(refused.reason, refused.reason) if hasattr(refused, "reason") else "invalid"
            if step.get("refusal") != "loading":
                self.equal("state after the error", self.figures(), before)
            assert "error" in step or "refusal" in step, (self.where, refused)
        unsaid = self.older and isinstance(error, kvmlir.InsufficientBlocksError)
        if "error" in step and not unsaid:
            self.equal("error", str(error), in_python(step.get("error_in_python", step["error"])))
        if "refusal" in step and not unsaid:
            self.equal("refusal", self.refusal if error else "none", step["refusal"])
        self.expect(step)
        if self.manager:
            self.manager.check()

    def call(self, name, *given, **named):
        name = OLDER.get(name, name) if self.older else name
        self.called.add(f"{type(self.manager).__name__}.{name}")
        value = getattr(self.manager, name)
        return value(*given, **named) if callable(value) else value

    def batch(self, step):
        return [self.requests[id] for id in step.get("batch", [step.get("id")])]

    def perform(self, do, step):
        if do.startswith("size."):
            self.result = self.formula(do[5:], step)
            return
        own, id = self.requests.get(step.get("id")), step.get("id")
        calls = {
            "request": lambda: self.make(step, tokens_of(step["tokens"])),
            "claim": lambda: self.call("claim", id, *([step["replica"]] if "replica" in step else [])),
            "alloc": lambda: self.alloc(own, step),
            "probe": lambda: setattr(self, "plan", self.call("probe", own, step.get("steps", 1))),
            "compute": lambda: self.compute(step),
            "inputs": lambda: self.fetch(step),
            "increment": lambda: self.call("increment_cache_lengths", self.inputs, np.array(step["offsets"], np.int32)),
            "symbolic": lambda: self.symbolic(step),
            "blocks_for": lambda: setattr(self, "result", self.call("blocks_for", step["tokens"])),
            "advance": lambda: own.advance(),
            "append": lambda: own.append(tokens_of(step["tokens"]), step.get("drafts")),
            "image": lambda: self.image(own, **step),
            "skip": lambda: own.skip(step["tokens"]),
            "rewind": lambda: own.rewind(step["tokens"]),
            "limit": lambda: own.limit_active(step["tokens"]),
            "step": lambda: self.call("step", self.batch(step)),
            "release": lambda: self.call("release", id),
            "req_blocks": lambda: self.call("get_req_blocks", id),
            "replica_of": lambda: self.call("get_replica", own),
            "serve": lambda: self.serve(step),
            "fork": lambda: self.fork(step),
            "truncate": lambda: self.truncate(step),
            "time": lambda: self.manager.set_time(step["seconds"] * SECOND),
            "prefetch": lambda: setattr(self, "result", self.call("prefetch", own)),
            "wait_for_loads": lambda: setattr(self, "result", int(self.call("wait_for_loads", 1.0))),
            "synchronize": lambda: self.call("synchronize"),
            "reset_prefix_cache": lambda: self.call("reset_prefix_cache"),
            "reset_metrics": lambda: self.call("reset_metrics"),
            "drain": lambda: [None for _ in iter(lambda: self.call("wait_for_loads", 20.0), False)],
            "damage": self.damage,
            "splits": lambda: self.splits(step),
            "random_prompts": lambda: self.random_prompts(step),
        }
        calls[do]()

    def make(self, step, tokens):
        made = self.requests[step["id"]] = TextGenerationContext(tokens, step["id"])
        made.set_scope(*(step.get(name) for name in ("model", "adapter", "salt")))
        for one in step.get("images", []):
            self.image(made, **one)
        made.set_retention(step.get("priority", 64), step.get("prefix_tokens", 0), step.get("prefix_priority", 64),
                           step.get("duration", 0) * SECOND, step.get("prefix_duration", 0) * SECOND)
        made.set_reuses_prefix(bool(step.get("reuses_prefix", 1)))
        made.limit_active(step.get("limit", 0))
        if "payload" in step:
            payload = self.payloads[step["id"]] = made.set_payload(
                len(tokens) * self.call("payload_bytes_per_token"))
            payload[:] = step["payload"]
        return made

    @staticmethod
    def image(own, begin, length=1, hash="i", **_):
        own.add_image(begin, length, hash.encode())

    def alloc(self, own, step):
        given = (own, *([step["steps"]] if "steps" in step else []))
        self.allocation = None
        self.before.setdefault(own, own.processed_length)
        if not self.older:
            self.allocation = self.call("alloc", *given)
        elif not self.call("maybe_reserve", *given):
            raise kvmlir.InsufficientBlocksError  # there is no sentence
        self.cached = own.processed_length - self.before.pop(own)

    def fetch(self, step):
        given = (self.batch(step), step["steps"]) if "steps" in step else (self.batch(step),)
        self.inputs = self.call("get_runtime_inputs", *given)

    def compute(self, step):
        self.fetch(step)
        batch = self.batch(step)
        self.touch(batch)
        for one in batch:
            one.advance()
        self.call("step", batch)

    def touch(self, batch):
        """Writes the keys of what the step computes, and compares those of what it may read."""
        rows = {}
        for one in batch:
            replica = self.call("get_replica", one)
            row = rows[replica] = rows.get(replica, -1) + 1
            done, end = one.processed_length, one.processed_length + one.active_length
            for device in range(replica * self.shards, (replica + 1) * self.shards):
                for c, cache in enumerate(self.caches):
                    inputs = self.inputs[device * len(self.caches) + c]
                    window, layers = cache.window, cache.num_layers
                    blocks, ids = inputs.blocks.numpy(), inputs.lookup_table.numpy()[row]
                    self.equal("cache length", int(inputs.cache_lengths.numpy()[row]), done)
                    if cache.dtype is not kvmlir.DType.float32:
                        continue  # has no room for a token
                    per_page, page = blocks.shape[2:4]
                    seen = np.arange(max(done - window + 1, 0) if window else 0, end)
                    new = np.arange(done, end)
                    for layer in range(layers):
                        own = np.atleast_1d(ids).reshape(-(-layers // per_page), -1)[layer // per_page]
                        cells = [(own[at // page], 0, layer % per_page, at % page, 0, 0) for at in (new, seen)]
                        wanted = one.tokens + 16384 * device + (layer + 64 * c) / 256
                        blocks[cells[0]] = wanted[new]
                        self.equal("the cache", blocks[cells[1]].tolist(), wanted[seen].tolist())

    def serve(self, step):
        self.make(step, tokens_of(step["tokens"]))
        own, cached = self.requests[step["id"]], None
        self.call("claim", own.request_id, *([step["replica"]] if "replica" in step else []))
        try:
            while cached is None or own.active_length:
                self.alloc(own, step)
                cached = self.cached if cached is None else cached
                self.compute(step)
        finally:
            self.call("release", own.request_id)
        self.cached = cached

    def fork(self, step):
        source = self.requests[step["from"]].tokens[:step["at"]].tolist() if step["from"] in self.requests else []
        made = TextGenerationContext(source + tokens_of(step["tokens"]), step["id"])
        self.call("fork", step["from"], made, step["at"])
        self.make(step, made.tokens).skip(step["at"])

    def truncate(self, step):
        self.call("truncate", step["id"], step["to"])
        kept = self.requests[step["id"]].tokens[:step["to"]].tolist()
        self.make(step, kept + tokens_of(step["tokens"])).skip(step["to"])

    def damage(self):
        """Changes a bit of everything that the disk holds."""
        with open(Path(self.disk) / "pages.bin", "r+b") as file:
            data = np.frombuffer(file.read(), np.uint8).copy()
            data[::4096] ^= 1
            file.seek(0)
            file.write(data.tobytes())

    def random_prompts(self, step):
        draw = random.Random(step.get("seed", 1))
        for round in range(step["rounds"]):
            one = {"id": 1000 + round, "tokens": draw.choices((0, 1), k=draw.randint(1, step["longest"]))}
            self.serve(one)
            del self.requests[one["id"]]

    def splits(self, step):
        found = self.call("get_data_parallel_splits", self.batch(step))
        if isinstance(self.manager, kvmlir.NullKVCacheManager):
            self.equal("splits", found, [list(range(len(step["batch"])))])
        else:
            self.equal("splits", found.tolist(), step["splits"])

    def symbolic(self, step):
        places = self.manager.devices + [kvmlir.CPU(9)]
        named = {"devices": places[:step["devices"]]} if "devices" in step else {}
        if "layers" in step:
            named["num_layers"] = step["layers"]
        found = self.call("get_symbolic_inputs", **named)
        for name, actual in (("names", lambda one: [each.name for each in one]),
                             ("ranks", lambda one: [each.rank for each in one]),
                             ("layers", lambda one: one.kv_blocks.shape[2])):
            if name in step:
                wanted = step[name] if name == "names" else [step[name]] * len(found)
                self.equal(name, [actual(one) for one in found], wanted)

    def formula(self, what, step):
        """A figure of parameters without a manager."""
        if what == "shard_heads":
            return kvmlir.KVCacheParams("f32", step["heads"], 1, 1, n_devices=step.get("degree", 1),
                                        allow_kv_head_replication=bool(step.get("replicate"))).n_kv_heads_per_device
        params = self.params(step, 8, 128, 0)

        def of(own, name, *given):
            self.called.add(f"{getattr(own, '__name__', 'KVCacheParams')}.{name}")
            value = getattr(own, name)
            return value(*given) if callable(value) else value

        batch, length, memory = step.get("batch", 512), step.get("max_seq_len", 1 << 20), step.get("memory", 1 << 30)
        limits = [step.get("max_steps", 0), step.get("max_chunk_tokens", 0)]
        paged, null = kvmlir.PagedKVCacheManager, kvmlir.NullKVCacheManager
        slots, seq = kvmlir.ContinuousBatchingKVCacheManager, params.page_size
        places = kvmlir.KVCacheParamInterface._places(params)
        prefix = [step["prefix"]] if "prefix" in step else []
        return {
            "num_blocks": lambda: params.spec().paged_num_blocks(batch, length, memory, *limits),
            "host_pages": lambda: params.spec().paged_host_pages(batch, step["count"], memory),
            "estimated_memory": lambda: (
                params.spec().paged_estimated_memory_size(batch, length, memory, *limits) if any(limits) else
                of(paged, "estimated_memory_size", params, batch, length, None, memory, places)),
            "optimal_batch": lambda: of(paged, "infer_optimal_batch_size", params, length, None, memory, places),
            "max_sequence": lambda: of(paged, "max_supported_sequence_length", params, None, memory),
            "continuous_memory": lambda: of(slots, "estimated_memory_size", params, batch, seq, None, places),
            "continuous_batch": lambda: of(slots, "infer_optimal_batch_size", params, seq, None, memory, places),
            "null_memory": lambda: of(null, "estimated_memory_size", params, batch, length, None, memory, places),
            "null_batch": lambda: of(null, "infer_optimal_batch_size", params, length, None, memory, places),
            "page_size": lambda: params.spec().page_size(),
            "bytes_per_page": lambda: params.spec().bytes_per_page(),
            "bytes_per_block": lambda: of(params, "bytes_per_block"),
            "tensor_parallel_degree": lambda: of(params, "tensor_parallel_degree"),
            "draft_slots": lambda: of(params, "num_draft_slots"),
            "replicates": lambda: int(of(params, "replicates_kv_across_tp")),
            "block_shape": lambda: of(params, "block_shape", step["count"]),
            "scale_shape": lambda: list(params.spec().scale_shape(0, step["count"])),
            "symbolic": lambda: [one.name for one in of(params, "get_symbolic_inputs", *prefix).flatten()],
        }[what]()

    # ---- Expectations -----------------------------------------------------------------------------------

    def equal(self, what, actual, wanted):
        self.checks += 1
        assert actual == wanted, (what, self.where)

    def expect(self, step):
        own, id = self.requests.get(step.get("id")), step.get("id")
        first = self.inputs[0] if self.inputs else None
        figures = {
            "cached": lambda: self.cached,
            "would_cache": lambda: self.plan.cached_tokens,
            "would_take": lambda: self.plan.pages,
            "fits": lambda: self.plan.fits,
            "result": lambda: self.result,
            "above": lambda: step["above"] if self.result > step["above"] else self.result,
            "below": lambda: step["below"] if self.result < step["below"] else self.result,
            "lengths": lambda: first.cache_lengths.numpy().tolist(),
            "max_lengths": lambda: first.max_lengths.numpy().ravel().tolist(),
            "all_lengths": lambda: [one.cache_lengths.numpy().tolist() for one in self.inputs],
            "all_max_lengths": lambda: [one.max_lengths.numpy().ravel().tolist() for one in self.inputs],
            "blocks": lambda: list(first.blocks.shape),
            "last_blocks": lambda: list(self.inputs[-1].blocks.shape),
            "last_scales": lambda: list(self.inputs[-1].kv_scales.shape),
            "columns": lambda: first.lookup_table.shape[1],
            "table": lambda: first.lookup_table.numpy().tolist(),
            "cache_empty": lambda: first.is_cache_empty,
            "rows": lambda: [one.lookup_table.shape[0] for one in self.inputs],
            "free": lambda: self.call("num_free_blocks"),
            "free_of": self.free_of,
            "used": lambda: self.call("total_num_pages") - self.call("num_free_blocks"),
            "total": lambda: self.call("total_num_pages"),
            "pages_per_replica": lambda: self.call("num_pages_per_replica"),
            "free_pct": lambda: self.call("free_blocks_pct"),
            "used_pct": lambda: self.call("used_blocks_pct"),
            "host_pages": lambda: self.call("total_num_host_pages"),
            "host_committed_pct": lambda: self.call("host_committed_block_pct"),
            "num_replicas": lambda: self.call("num_replicas"),
            "longest_sequence": lambda: self.call("max_seq_len"),
            "device_names": lambda: self.call("device_names"),
            "pool_bytes": lambda: self.call("pool_bytes"),
            "host_bytes": lambda: self.call("host_bytes"),
            "contains": lambda: self.call("contains", id),
            "processed": lambda: own.processed_length,
            "active": lambda: own.active_length,
            "vouched": lambda: own.vouched_length,
            "length": lambda: len(own),
            "replica_is": lambda: self.call("get_replica", own),
            "recommended": lambda: self.call("get_or_recommend_replica", own),
            "why": lambda: [REASONS.get(one, one) for one in self.call("explain", own)],
            "held": lambda: len(self.call("get_req_blocks", id)),
            # Of each token, whose bytes are equal.
            "payloads": lambda: [one[0] if (one == one[0]).all() else -1
                                 for one in self.payloads[id].reshape(len(own), -1)],
        }
        if self.allocation:
            figures["new_pages"] = lambda: self.allocation.new_pages
        for name in step.keys() & figures.keys():
            self.equal(name, figures[name](), step[name])
        for name, wanted in step.get("metrics", {}).items():
            metrics = self.call("metrics")
            if name == "hit_rate_above":
                assert metrics.cache_hit_rate > wanted
            else:
                self.equal(name, getattr(metrics, METRICS.get(name, name)), wanted)
        if "pages" in step:
            self.expect_pages(self.call("get_req_blocks", id), step["pages"], self.call("get_replica", own))

    def expect_pages(self, pages, wanted, replica):
        """Names stand for pages one to one, on each replica; "?" is any page."""
        self.equal("number of pages", len(pages), len(wanted))
        for page, name in zip(pages, wanted):
            if name != "?":
                names = {number: key for key, number in self.page_of.items() if key[0] == replica}
                if (replica, name) not in self.page_of and page not in names:
                    self.page_of[replica, name] = page
                self.equal("pages", self.page_of.get((replica, name)), page)
