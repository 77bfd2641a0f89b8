"""inspect.signature() of the extension's functions, for help(), editors and mocks.

A function of the extension has its signature as a text only. Here its types get the attribute that
inspect looks for."""

import gc
import inspect
import re
from typing import Any

from . import _kvmlir


def _signature(function: Any) -> inspect.Signature:
    """Of several overloads the first one's."""
    text, _, defaults = function.__nb_signature__[0]
    # A default that is no literal is the number of a value.
    body = re.sub(r"\\(\d+)", r"_defaults[\1]", text)
    names: dict[str, Any] = {"_defaults": defaults}
    exec(f"from __future__ import annotations\n{body}: ...", names)
    return inspect.signature(names[text.split("(")[0].removeprefix("def ")])


def _bound(method: Any) -> inspect.Signature:
    whole = _signature(method)
    return whole.replace(parameters=list(whole.parameters.values())[1:])


def _call(method: Any) -> Any:
    """What unittest.mock looks at: it takes a method of this type for an attribute, without self."""
    def call(*arguments: Any, **named: Any) -> Any:
        return method(*arguments, **named)
    call.__signature__ = _bound(method)  # type: ignore[attr-defined]
    return call


def _itself(function: Any) -> Any:
    return function


def install() -> None:
    """Gives the types of the extension's functions the attributes."""
    method = type(_kvmlir.Manager.claim)
    bound = type(_kvmlir.TextGenerationContext([0]).advance)
    function = type(_kvmlir.update_batch)
    for kind, signature, call in ((method, _signature, _call), (bound, _bound, _itself),
                                  (function, _signature, _itself)):
        # The types are immutable, so an attribute is put where they keep theirs.
        [attributes] = (one for one in gc.get_referents(kind.__dict__) if isinstance(one, dict))
        attributes["__signature__"] = property(signature)
        attributes["__call__"] = property(call)
        _kvmlir.type_modified(kind)
