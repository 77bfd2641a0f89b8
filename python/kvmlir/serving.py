"""Requests in, tokens out."""

import collections
import itertools
import operator
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

from . import _kvmlir
from .errors import GenerationError
from .managers import Devices, KVCacheManager
from .options import SERVER, ServerOptions
from .params import KVCacheStrategy
from .session import Model, PathLike, load

if TYPE_CHECKING:
    from typing_extensions import Unpack

_TOKEN, _FAILED, _PROMPT_TOKEN, _EMBEDDING = 0, 3, 4, 5
_EMBEDDINGS = (None, "last", "mean")  # as C numbers them
_REASONS = {1: "stop", 2: "length", _FAILED: "error"}
# Without a manager of the caller's: as many requests of the model's length, and as many bytes.
_DEFAULT_SEQUENCES, _DEFAULT_BYTES = 4, 1 << 30


Logprobs = tuple[float, int, list[tuple[int, float]]]


class Stream:
    """The tokens of one request, as they come. Iterating runs the server's steps as needed.

    id: the request's. tokens: those that came so far. finish_reason: None while there are more;
    "stop", "length", "error" or "abort". After the end: prompt_tokens, cached_tokens (of the
    prompt, which the prefix cache saved), queue_seconds (from add() to the first step) of who did not fail; error: a
    sentence, or None. logprobs: for each token, where they were asked for, a tuple (log probability, rank from 1 on,
    list of (token, log probability) of the most likely ones). prompt_logprobs: the same for each token of the prompt
    but the first. embedding: where it was asked for."""

    def __init__(self, server: "Server", id: str,
                 listener: Optional[Callable[["Stream", Optional[int]], Any]]):
        self.server, self.id = server, id
        self.tokens: list[int] = []
        self.finish_reason: Optional[str] = None
        self.error: Optional[str] = None
        self.prompt_tokens = self.cached_tokens = 0
        self.queue_seconds: Optional[float] = None
        self.logprobs: list[Logprobs] = []
        self.prompt_logprobs: list[Logprobs] = []
        self.embedding: Optional[list[float]] = None
        self._read = 0
        self._listener = listener

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        while self._read == len(self.tokens):
            if self.finish_reason == "error":
                raise GenerationError(self.error)
            if self.finish_reason is not None:
                raise StopIteration
            self.server.step()
        self._read += 1
        return self.tokens[self._read - 1]

    def abort(self) -> None:
        """Gives the request up; nothing if it has ended."""
        self.server.abort(self)

    def _receive(self, kind: int, token: int, detail: Any) -> None:
        if kind == _PROMPT_TOKEN:
            self.prompt_logprobs.append(detail)
            return
        if kind == _EMBEDDING:
            self.embedding = detail
            return
        if kind == _TOKEN:
            self.tokens.append(token)
            if detail is not None:
                self.logprobs.append(detail)
        else:
            if kind == _FAILED:
                self.error = detail
            else:
                self.prompt_tokens, self.cached_tokens, self.queue_seconds = detail
            self.finish_reason = _REASONS[kind]
        if self._listener is not None:
            self._listener(self, token if kind == _TOKEN else None)


class Server:
    """Continuous batching over a model: requests come and go between its steps.

    model: with bound weights, and an entry `forward` as docs/reference/module.md has it. manager: of its
    caches; None: one with room for four requests of the model's length, of at most 1 GiB. Any thread
    may call it; a step releases the GIL, and the others wait for its end. draft: a smaller model of the same session,
    with bound weights and the same vocabulary, whose guesses steps verify.

    """

    def __init__(self, model: Model, manager: Optional[KVCacheManager] = None, draft: Optional[Model] = None,
                 **options: "Unpack[ServerOptions]"):
        limits: dict[str, Any] = {one.name: one.default for one in SERVER}
        for name, given in options.items():
            if name not in limits:
                raise TypeError(f"a server has no field {name}")
            if given == 0 and limits[name]:  # the runtime's default
                raise ValueError(f"{name} is 0, allowed: 1 or more")
        limits |= options
        if manager is None:
            manager = _default_manager(model, limits["max_batch"], limits["max_batch_tokens"])
        self.model, self.manager = model, manager
        self._native = _kvmlir.RequestServer(model, manager, **limits)
        if draft is not None:
            self._native.set_draft(draft)
        self._lock = threading.RLock()
        self._streams: dict[str, Stream] = {}
        self._ids = itertools.count()

    def add(self, tokens: Any, *, id: Optional[str] = None, max_new_tokens: Optional[int] = 128,
            temperature: float = 0.0, top_k: int = 0, top_p: float = 1.0, min_p: float = 0.0,
            seed: int = 0, stop_tokens: Any = (), salt: Optional[str] = None,
            listener: Optional[Callable[[Stream, Optional[int]], Any]] = None,
            repetition_penalty: float = 1.0, presence_penalty: float = 0.0, frequency_penalty: float = 0.0,
            logit_bias: Optional[Mapping[int, float]] = None, min_new_tokens: int = 0,
            mask: Optional[Callable[[Any, Any], Any]] = None,
            drafts: Optional[Callable[[Any], Sequence[int]]] = None,
            logprobs: Optional[int] = None, prompt_logprobs: Optional[int] = None,
            priority: int = 0, tenant: str = "", embedding: Optional[str] = None) -> Stream:
        """Adds a request and returns its stream.

        tokens: the prompt's ids, a list or an int32 array. max_new_tokens: None: as many as the
        model takes. temperature: 0: greedy. top_k: 0: all. min_p: the least share of the most
        likely token's probability; 0: all. stop_tokens: end the answer, and are not part of it. salt: shares cached
        prefixes with requests of an equal salt only.
        listener(stream, token) is called within steps with each token and, at the end, None.
        repetition_penalty: logits of tokens of the prompt and the answer are divided by it where they are positive,
        else multiplied. presence_penalty, frequency_penalty: subtracted from logits of tokens of the answer, once and
        for each time that they are there. logit_bias: what is added to logits, by token. min_new_tokens: stop tokens
        are not drawn before. mask(answer, allowed) is called within steps, once for each token: it sets bit t % 32 of
        allowed[t // 32], a uint32 array of zeros, for each token t that may follow the answer, an int32 array; both
        are valid during the call. drafts(answer) is called within steps and returns tokens that may come next, of which
        the next step verifies up to 64: wrong ones change no token. A model with recurrent states is not asked for any.
        logprobs, prompt_logprobs: of how many most likely tokens the streams' lists have
        the log probabilities, beside the token's own; None: no lists. prompt_logprobs computes the whole prompt,
        unless the manager's cached_logprobs is as many. priority: of requests that wait the smallest begins first.
        tenant: of those with equal priority, the first one of the tenant for which the fewest tokens were computed.
        embedding: "last", the last hidden state of the prompt, or "mean", of all, which computes the whole prompt: then
        there is no answer. Raises ValueError; OutOfMemoryError: the request can never fit."""
        if isinstance(max_new_tokens, int) and max_new_tokens < 1:
            raise ValueError(f"max_new_tokens is {max_new_tokens}, allowed: None (as many as the "
                             "model takes), or 1 or more")
        if isinstance(top_p, (int, float)) and top_p <= 0:
            raise ValueError(f"top_p is {top_p}, allowed: above 0, at most 1")
        if mask is not None and not callable(mask):
            raise ValueError(f"mask is {mask!r}, allowed: a function of the answer and an array")
        if drafts is not None and not callable(drafts):
            raise ValueError(f"drafts is {drafts!r}, allowed: a function of the answer")
        if embedding not in _EMBEDDINGS:
            raise ValueError(f'embedding is {embedding!r}, allowed: None, "last" or "mean"')
        with self._lock:
            name = id if id is not None else f"request-{next(self._ids)}"
            stream = Stream(self, name, listener)
            # What needs no event of its own goes to the list.
            is_listed = listener is None and logprobs is None
            self._native.add(
                name, tokens, stop_tokens, salt, tenant, _read_bias(logit_bias), mask, drafts,
                stream.tokens if is_listed else None, temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p,
                max_new_tokens=0 if max_new_tokens is None else max_new_tokens, seed=seed,
                repetition_penalty=repetition_penalty, presence_penalty=presence_penalty,
                frequency_penalty=frequency_penalty, min_new_tokens=min_new_tokens, priority=priority,
                embedding=_EMBEDDINGS.index(embedding),
                num_logprobs=_count("logprobs", logprobs), num_prompt_logprobs=_count("prompt_logprobs", prompt_logprobs))
            self._streams[name] = stream
            return stream

    def step(self) -> bool:
        """Executes one step, if there is a request, or a prompt that peers want; whether any is left.
        Tokens go to streams; what a listener raises is raised here, when all streams have theirs."""
        with self._lock:
            more: bool
            more, events = self._native.step()
            failure = None
            for name, kind, token, detail in events:
                is_last = kind in _REASONS
                stream = self._streams.pop(name) if is_last else self._streams[name]
                try:
                    stream._receive(kind, token, detail)
                except Exception as error:  # a listener's: the other streams get theirs first
                    failure = failure or error
            if failure is not None:
                raise failure
            return more

    def run(self) -> None:
        """Steps until all requests are answered."""
        while self.step():
            pass

    def abort(self, request: Union[Stream, str]) -> None:
        """Gives a request up: its pages are free, and its stream ends. Nothing if it has ended."""
        with self._lock:
            stream = self._streams.pop(request.id if isinstance(request, Stream) else request, None)
            if stream is not None:
                stream.prompt_tokens, stream.cached_tokens, stream.queue_seconds = self._native.counts(stream.id)
                self._native.abort(stream.id)
                stream.finish_reason = "abort"

    @property
    def prompt_descriptor(self) -> int:
        """A file descriptor that is readable while peers want prompts, which step() computes: to wait
        for where there is no request. -1: the manager's peer_role is not "prefill"."""
        return self._native.prompt_descriptor()

    @property
    def num_requests(self) -> int:
        """Requests that have not ended."""
        return len(self._streams)

    def figures(self) -> dict[str, Any]:
        """What was counted since the server was made: requests, stopped, reached_end, failed,
        aborted, running, waiting, preemptions, prefill_tokens, decode_tokens, generated_tokens,
        draft_tokens, accepted_tokens (of them), step_seconds, used_blocks_pct (0.0 to 1.0), and the manager's metrics
        as `cache`."""
        return self._native.figures()


Server.__doc__ = f"{Server.__doc__}{ServerOptions.__doc__}"


def _read_bias(given: Optional[Mapping[int, float]]) -> list[tuple[int, float]]:
    try:
        return [(operator.index(token), float(value)) for token, value in (given or {}).items()]
    except (AttributeError, TypeError, ValueError):
        raise ValueError(f"logit_bias is {given!r}, allowed: numbers by token ids") from None


def _count(name: str, given: Optional[int]) -> int:
    """As C has it: 0 is none, and the token's own counts."""
    if given is None:
        return 0
    if not isinstance(given, int) or given < 0:
        raise ValueError(f"{name} is {given!r}, allowed: None, or 0 or more")
    return given + 1


def _default_manager(model: Model, max_batch: int, max_batch_tokens: int) -> KVCacheManager:
    options: dict[str, Any] = {"max_steps": 1, "key": secrets.randbits(64), "warn": False}
    if model.params.cache_strategy != KVCacheStrategy.CONTINUOUS:
        options["max_chunk_tokens"] = max_batch_tokens
        options["num_pages"] = model.params.spec().paged_num_blocks(
            _DEFAULT_SEQUENCES, model.manifest.model_max_seq_len, _DEFAULT_BYTES, 1,
            max_batch_tokens)
    return model.create_manager(max_batch, **options)


def generate(model: Union[Model, PathLike], prompts: Any, *, weights: Optional[PathLike] = None,
             devices: Devices = None, num_threads: Optional[int] = None,
             manager: Optional[KVCacheManager] = None, **more: Any) -> Iterator[Any]:
    """Yields the tokens of answers as they come.

    for token in kvmlir.generate("model", [5, 6, 7], max_new_tokens=20): ...
    for index, token in kvmlir.generate("model", [[5, 6, 7], [8, 9]]): ...

    model: a folder with model.so and weights.safetensors, an artifact (then `weights` too), or a
    loaded Model. prompts: token ids of one prompt, which yields tokens, or a sequence of prompts,
    which yields (index, token), interleaved. more: options of Server, and of Server.add(). Ending the
    iteration early gives up what is left. Raises GenerationError, and what Server.add() does, before the first
    token."""
    loaded = model if isinstance(model, Model) else load(model, weights, devices, num_threads)
    server = Server(loaded, manager, **{one.name: more.pop(one.name) for one in SERVER if one.name in more})
    single = not _is_batch(prompts)
    arrived: collections.deque[Any] = collections.deque()
    streams = []

    def listen(index: int) -> Callable[[Stream, Optional[int]], None]:
        def receive(stream: Stream, token: Optional[int]) -> None:
            if token is not None:
                arrived.append(token if single else (index, token))
        return receive

    for index, prompt in enumerate([prompts] if single else prompts):
        streams.append(server.add(prompt, listener=listen(index), **more))
    return _yield(server, streams, arrived)


def _yield(server: Server, streams: Sequence[Stream], arrived: Any) -> Iterator[Any]:
    try:
        more = True
        while more:
            more = server.step()
            while arrived:
                yield arrived.popleft()
            for stream in streams:
                if stream.finish_reason == "error":
                    raise GenerationError(stream.error)
    finally:
        for stream in streams:
            stream.abort()


def _is_batch(prompts: Any) -> bool:
    if hasattr(prompts, "ndim"):
        return bool(prompts.ndim > 1)
    if isinstance(prompts, (str, bytes)) or not hasattr(prompts, "__len__"):
        raise ValueError(f"prompts is a {type(prompts).__name__}, allowed: token ids, or a list of "
                         "lists of token ids")
    return len(prompts) > 0 and hasattr(prompts[0], "__len__")
