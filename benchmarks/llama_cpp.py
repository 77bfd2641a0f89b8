"""llama_cpp.py MODEL.gguf THREADS PROMPT NEW: llama.cpp (the library in the wheel xllamacpp) computes PROMPT
tokens in one step and NEW more one by one; prints tokens a second of prefill and decode as JSON.

Its C interface is called without the wheel's server, which would add milliseconds to each token."""

import ctypes
import json
import sys
import time

import xllamacpp


class Opaque(ctypes.Structure):
    """Parameters that are passed by value: as large as they may ever be. A caller who gives more bytes
    than a function takes does no harm, since they lie last on the stack."""
    _fields_ = [("bytes", ctypes.c_char * 1024)]


class Batch(ctypes.Structure):
    """llama_batch, of llama.h."""
    _fields_ = [("n_tokens", ctypes.c_int32), ("token", ctypes.POINTER(ctypes.c_int32)),
                ("embd", ctypes.c_void_p), ("pos", ctypes.POINTER(ctypes.c_int32)),
                ("n_seq_id", ctypes.c_void_p), ("seq_id", ctypes.c_void_p),
                ("logits", ctypes.POINTER(ctypes.c_int8))]


class Llama:
    """A model with one sequence of at most 512 tokens."""

    def __init__(self, model, threads):
        pointer = ctypes.c_void_p
        self.library = ctypes.CDLL(xllamacpp.xllamacpp.__file__)
        self._log = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, pointer)(lambda *_: None)
        self.library.llama_log_set(self._log, None)
        self.library.llama_backend_init()
        parameters = self._function("llama_model_default_params", Opaque)()
        load = self._function("llama_model_load_from_file", pointer, ctypes.c_char_p, Opaque)
        self.model = load(model.encode(), parameters)
        if not self.model:
            sys.exit(f"llama.cpp cannot read {model}")
        parameters = self._function("llama_context_default_params", Opaque)()
        make = self._function("llama_init_from_model", pointer, pointer, Opaque)
        self.context = make(self.model, parameters)
        self._function("llama_set_n_threads", None, pointer, ctypes.c_int32,
                       ctypes.c_int32)(self.context, threads, threads)
        vocabulary = self._function("llama_model_get_vocab", pointer, pointer)(self.model)
        self.vocab = self._function("llama_vocab_n_tokens", ctypes.c_int32, pointer)(vocabulary)
        self._one = self._function("llama_batch_get_one", Batch, ctypes.POINTER(ctypes.c_int32),
                                   ctypes.c_int32)
        self._decode = self._function("llama_decode", ctypes.c_int32, pointer, Batch)
        self._logits = self._function("llama_get_logits_ith", ctypes.POINTER(ctypes.c_float), pointer,
                                      ctypes.c_int32)

    def _function(self, name, result, *arguments):
        function = getattr(self.library, name)
        function.restype, function.argtypes = result, arguments
        return function

    def step(self, tokens):
        """Computes tokens behind those before; returns the last one's logits (a pointer to f32)."""
        array = (ctypes.c_int32 * len(tokens))(*tokens)  # the batch points into it
        status = self._decode(self.context, self._one(array, len(tokens)))
        if status:
            sys.exit(f"llama_decode returned {status}")
        return self._logits(self.context, -1)

    def best(self, logits):
        """The token with the largest logit."""
        values = memoryview((ctypes.c_float * self.vocab).from_address(
            ctypes.addressof(logits.contents))).cast("B").cast("f")
        return max(range(self.vocab), key=values.__getitem__)


def main(model, threads, prompt, new):
    llama = Llama(model, threads)
    tokens = [(i * 7919 + 13) % 49152 for i in range(prompt)]
    start = time.perf_counter()
    logits = llama.step(tokens)
    prefill = time.perf_counter() - start
    decode = 0.0
    for _ in range(new):
        # Which token comes next is not part of the time: kv-run's figures leave it out as well.
        token = llama.best(logits)
        start = time.perf_counter()
        logits = llama.step([token])
        decode += time.perf_counter() - start
    print(json.dumps({"prefill": prompt / prefill, "decode": new / decode}))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
