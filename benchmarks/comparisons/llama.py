"""llama.py MODEL.gguf THREADS PROMPT NEW [BATCH]: llama.cpp computes BATCH (1) prompts of PROMPT tokens in
one step and NEW more of each, one a step; prints tokens a second of prefill and decode as JSON.

Its C interface is called without a server, which would add milliseconds to each token."""

import ctypes
import json
import sys
import time

import numpy

from ggml import function
from smollm2 import prompts


class Opaque(ctypes.Structure):
    """Parameters that are passed by value: as large as they may ever be. A caller who gives more bytes
    than a function takes does no harm, since they lie last on the stack."""
    _fields_ = [("bytes", ctypes.c_char * 1024)]


class Batch(ctypes.Structure):
    """llama_batch, of llama.h."""
    _fields_ = [("n_tokens", ctypes.c_int32), ("token", ctypes.POINTER(ctypes.c_int32)),
                ("embd", ctypes.c_void_p), ("pos", ctypes.POINTER(ctypes.c_int32)),
                ("n_seq_id", ctypes.POINTER(ctypes.c_int32)),
                ("seq_id", ctypes.POINTER(ctypes.POINTER(ctypes.c_int32))),
                ("logits", ctypes.POINTER(ctypes.c_int8))]


class Llama:
    """A model with `sequences` of at most `context` tokens each."""

    def __init__(self, model, threads, sequences=1, context=512):
        pointer = ctypes.c_void_p
        self._log = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, pointer)(lambda *_: None)
        function("llama_log_set", None, pointer, pointer)(ctypes.cast(self._log, pointer), None)
        function("llama_backend_init", None)()
        parameters = function("llama_model_default_params", Opaque)()
        load = function("llama_model_load_from_file", pointer, ctypes.c_char_p, Opaque)
        self.model = load(model.encode(), parameters)
        if not self.model:
            sys.exit(f"llama.cpp cannot read {model}")
        parameters = function("llama_context_default_params", Opaque)()
        # llama_context_params begins with n_ctx, n_batch, n_ubatch, n_seq_max.
        numbers = (ctypes.c_uint32 * 4).from_buffer(parameters)
        if list(numbers) != [512, 2048, 512, 1]:
            sys.exit(f"llama_context_params begins with {list(numbers)}: another order of its fields")
        numbers[0], numbers[3] = sequences * context, sequences
        numbers[1] = max(2048, numbers[0])
        make = function("llama_init_from_model", pointer, pointer, Opaque)
        self.context = make(self.model, parameters)
        function("llama_set_n_threads", None, pointer, ctypes.c_int32,
                 ctypes.c_int32)(self.context, threads, threads)
        vocabulary = function("llama_model_get_vocab", pointer, pointer)(self.model)
        self.vocab = function("llama_vocab_n_tokens", ctypes.c_int32, pointer)(vocabulary)
        self._batch = function("llama_batch_init", Batch, *3 * [ctypes.c_int32])(
            numbers[0], 0, 1)
        self._past = [0] * sequences
        self._decode = function("llama_decode", ctypes.c_int32, pointer, Batch)
        self._logits = function("llama_get_logits_ith", ctypes.POINTER(ctypes.c_float), pointer,
                                ctypes.c_int32)

    def step(self, *sequences):
        """Computes the tokens of each sequence behind those before; returns the last one's logits of each
        (pointers to f32)."""
        batch, last = self._batch, []
        n = 0
        for which, tokens in enumerate(sequences):
            for token in tokens:
                batch.token[n], batch.pos[n] = token, self._past[which]
                batch.n_seq_id[n], batch.seq_id[n][0] = 1, which
                batch.logits[n] = 0
                self._past[which] += 1
                n += 1
            batch.logits[n - 1] = 1
            last.append(n - 1)
        batch.n_tokens = n
        status = self._decode(self.context, batch)
        if status:
            sys.exit(f"llama_decode returned {status}")
        return [self._logits(self.context, i) for i in last]

    def best(self, logits):
        """The token with the largest logit."""
        return int(numpy.ctypeslib.as_array(logits, (self.vocab,)).argmax())


def main(model, threads, prompt, new, batch=1):
    llama = Llama(model, threads, batch, prompt + new)
    start = time.perf_counter()
    logits = llama.step(*prompts(prompt, batch))
    prefill = time.perf_counter() - start
    decode = 0.0
    for _ in range(new):
        # Which token comes next is not part of the time: kv-run's figures leave it out as well.
        tokens = [[llama.best(each)] for each in logits]
        start = time.perf_counter()
        logits = llama.step(*tokens)
        decode += time.perf_counter() - start
    print(json.dumps({"prefill": batch * prompt / prefill, "decode": batch * new / decode}))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
