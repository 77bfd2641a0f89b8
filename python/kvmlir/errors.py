"""What calls raise. Each message says in one sentence what was given and what is allowed; a call
that raises has changed nothing."""


class KVError(Exception):
    """Of everything that the runtime refuses."""


class InvalidArgumentError(KVError, ValueError):
    """What was asked makes no sense, whatever is free."""


class OutOfRangeError(KVError, ValueError, IndexError):
    """An index or a size that is not allowed."""


class OutOfMemoryError(KVError, MemoryError, RuntimeError):
    """Memory, slots or pages that there are not."""


class InsufficientBlocksError(OutOfMemoryError):
    """A reservation was refused. `reason`: "wait" (released pages become free when steps that run
    now are over), "full" (other requests hold the pages), "never_fits" (the request does not fit
    even alone) or, with asynchronous_loads, "loading" (it has its pages, and some come from a disk or
    a store: to be called again, perhaps after wait_for_loads())."""

    reason = "full"


class UnsupportedError(KVError, NotImplementedError):
    """This manager, device or build cannot do it."""


class InternalError(KVError, RuntimeError):
    """A contradiction within the runtime or a model."""


class CompilerNotFoundError(KVError, FileNotFoundError):
    """There is no kv-compile: the package holds the runtime, which needs none."""


class CompileError(KVError, ValueError):
    """kv-compile has refused a module; the message is its own."""


class GenerationError(KVError, RuntimeError):
    """A request could not be answered to its end."""
