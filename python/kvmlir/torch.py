"""A backend of torch.compile for decoders without a cache: torch.compile(model, backend="kvmlir").

The graph goes the way of kv-import --from torch: torch.export, linalg, kv-raise, kv-compile. Importing this module
registers the name."""

import tempfile
from pathlib import Path
from typing import Any, Optional

import numpy
try:
    import torch
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"kvmlir.torch needs the package {error.name}, which is not installed",
                              name=error.name) from error

from . import _torch_linalg
from .managers import TextGenerationContext
from .session import compile, load

_ALLOWED = "allowed: a model from token ids, int64 [1, T], to f32 logits [1, T, vocabulary], without a cache"


def _origin(node: torch.fx.Node) -> torch.fx.Node:
    """What a view is of."""
    while node.op == "call_method" and node.target in ("view", "reshape"):
        node = node.args[0]
    return node


class _Inputs:
    """Which argument of a graph is what: ids of tokens, their number, weights, numbers, masks of ones, or a constant."""

    def __init__(self, graph: torch.fx.GraphModule, given: tuple[Any, ...]):
        looked_up = {_origin(node.args[0]) for node in graph.graph.nodes if node.target is torch.nn.functional.embedding}
        holders = [node for node in graph.graph.nodes if node.op == "placeholder"]
        self.ids = [i for i, node in enumerate(holders) if node in looked_up]
        if len(self.ids) != 1 or given[self.ids[0]].dim() != 2 or len(given[self.ids[0]]) != 1:
            shapes = [list(given[i].shape) for i in self.ids]
            raise ValueError(f"the graph looks up ids of the shapes {shapes}, {_ALLOWED}")
        ids = given[self.ids[0]]
        tensors = [(i, one) for i, one in enumerate(given) if isinstance(one, torch.Tensor) and i not in self.ids]
        # A number of Python that may change comes as a tensor without dimensions.
        self.numbers = [i for i, one in tensors if one.dtype == torch.float64 and one.dim() == 0]
        self.weights = {holders[i].name: i for i, one in tensors if one.is_floating_point() and i not in self.numbers}
        self.ones = [i for i, one in tensors if not one.is_floating_point() and one.shape == ids.shape]
        self.kept = [i for i, one in tensors if i not in self.numbers and i not in self.ones]
        self.dynamic = any(isinstance(one, int) for one in given)
        # torch.compile makes a graph of its own for one token, in which no sequence can be seen: PyTorch runs it.
        self.single = not self.dynamic and ids.shape[1] == 1
        for name, i in self.weights.items():
            if given[i].dtype != torch.float32 or given[i].device.type != "cpu":
                raise ValueError(f"{name} is {given[i].dtype} on {given[i].device}, allowed: torch.float32 on cpu")

    def check(self, given: tuple[Any, ...]) -> None:
        if torch.is_grad_enabled() and any(given[i].requires_grad for i in self.weights.values()):
            raise ValueError("gradients are wanted, the backend kvmlir needs torch.no_grad()")
        for i in self.ones:
            if not (given[i] == 1).all():
                raise ValueError(f"an input of the tokens' shape is {given[i].tolist()}, allowed: ones, a mask without "
                                 "padding")


class _State:
    """What a compiled graph holds: tensors, which must be the same and unchanged, and numbers."""

    def __init__(self, inputs: _Inputs, given: tuple[Any, ...]):
        self.tensors = [given[i] for i in inputs.kept]  # kept, so that no other tensor takes their place
        self.versions = [one._version for one in self.tensors]
        self.numbers = [given[i].item() for i in inputs.numbers]

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, _State) and (self.versions, self.numbers) == (other.versions, other.numbers)
                and all(one is same for one, same in zip(self.tensors, other.tensors)))


class _WithNumbers(torch.fx.Interpreter):
    """Runs a graph whose numbers are Python's."""

    def call_method(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if target == "item" and isinstance(args[0], float):
            return args[0]
        return super().call_method(target, args, kwargs)


class _Alone(torch.nn.Module):
    """The graph as a function of the ids and the weights."""

    def __init__(self, graph: torch.fx.GraphModule, inputs: _Inputs, given: tuple[Any, ...]):
        super().__init__()
        self.__dict__.update(graph=graph, inputs=inputs, given=given)

    def forward(self, ids: torch.Tensor, *weights: torch.Tensor) -> torch.Tensor:
        given = [ids.shape[1] if isinstance(one, int) else one for one in self.given]
        given[self.inputs.ids[0]] = ids
        for i in self.inputs.ones:
            given[i] = torch.ones_like(ids, dtype=given[i].dtype)
        for i in self.inputs.numbers:
            given[i] = self.given[i].item()
        for i, weight in zip(self.inputs.weights.values(), weights, strict=True):
            given[i] = weight
        return _WithNumbers(self.graph).run(*given)[0]


class _Compiled:
    """A graph, compiled when it first runs, and again after a weight has changed."""

    def __init__(self, graph: torch.fx.GraphModule, max_tokens: int):
        [outputs] = (node.args[0] for node in graph.graph.nodes if node.op == "output")
        if len(outputs) != 1:
            raise ValueError(f"the graph has {len(outputs)} results, {_ALLOWED}")
        self.graph, self.max_tokens = graph, max_tokens
        self.inputs: Optional[_Inputs] = None
        self.state: Optional[_State] = None

    def prepare(self, inputs: _Inputs, given: tuple[Any, ...]) -> None:
        weights = {name: given[i].detach() for name, i in inputs.weights.items()}
        ids = given[inputs.ids[0]]
        fixed = None if inputs.dynamic else list(ids.shape)
        alone = _Alone(self.graph, inputs, given)
        program, longest = _torch_linalg.exported(alone, weights, self.max_tokens, fixed)
        vocabulary = self.vocabulary(program)
        with tempfile.TemporaryDirectory() as folder:
            _torch_linalg.write(_torch_linalg.lowered(program), weights, "torch", vocabulary, "torch", longest, Path(folder))
            compile(Path(folder, "graph.mlir"), Path(folder, "model.so"), options=("--raise", "--cache-dtype=f32"))
            self.model = load(folder)
        collections = self.model.manifest.collections
        pages = len(collections) * (longest // collections[0]["page"] + 2)
        self.manager = self.model.create_manager(1, num_pages=pages, warn=False)
        self.longest = longest

    @staticmethod
    def vocabulary(program: Any) -> int:
        [outputs] = (node.args[0] for node in program.graph.nodes if node.op == "output")
        logits = outputs[0].meta["val"]
        if logits.dtype != torch.float32 or logits.dim() != 3 or len(logits) != 1:
            raise ValueError(f"the graph's result is {logits.dtype} {list(logits.shape)}, {_ALLOWED}")
        return int(logits.shape[2])

    def __call__(self, *given: Any) -> tuple[torch.Tensor]:
        if self.inputs is None:
            self.inputs = _Inputs(self.graph, given)
        self.inputs.check(given)
        if self.inputs.single:
            return self.graph(*given)
        state = _State(self.inputs, given)
        if state != self.state:
            self.prepare(self.inputs, given)
            self.state = state
        ids = given[self.inputs.ids[0]]
        count = ids.shape[1]
        if count > self.longest:
            raise ValueError(f"{count} tokens are given, allowed: {self.longest}; torch.compile(..., "
                             'options={"max_tokens": N}) says how many')
        context = TextGenerationContext(ids[0].to(torch.int32).numpy())
        context.set_reuses_prefix(False)  # the logits of all tokens are wanted
        self.manager.claim(context.request_id)
        try:
            self.manager.alloc(context)
            self.manager.get_runtime_inputs([context])
            out = self.model.execute(tokens=context.tokens, row_offsets=numpy.array([0, count], numpy.int32),
                                     logit_rows=numpy.arange(count, dtype=numpy.int32), manager=self.manager)
            return (torch.from_numpy(out["logits"].numpy().copy())[None],)
        finally:
            self.manager.release(context.request_id)


def backend(graph: torch.fx.GraphModule, inputs: list[Any], *, options: Optional[dict[str, Any]] = None) -> _Compiled:
    """torch.compile(model, backend="kvmlir", dynamic=True, options={"max_tokens": 1024})."""
    return _Compiled(graph, **{"max_tokens": 1024, **(options or {})})


torch._dynamo.register_backend(backend, name="kvmlir")
