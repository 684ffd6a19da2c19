"""Names that `import tvm` gave to scripts of Relay.

    from tvmq.relay import tvm                                # was: import tvm
    from tvmq.relay.tvm.contrib import graph_executor         # was: from tvm.contrib import graph_executor
    from tvmq.relay.quantize.quantize import quantize         # was: from tvm.relay.quantize.quantize import quantize

Names that TVM has today are TVM's; in the place of those that went stand ours. What is in neither says what to do.

>>> from tvmq.relay import tvm
>>> tvm.nd.array([1.0, 2.0]).asnumpy().tolist(), str(tvm.cpu(0))
([1.0, 2.0], 'cpu:0')
>>> tvm.nothing_of_the_kind
Traceback (most recent call last):
    ...
AttributeError: tvm.nothing_of_the_kind: neither TVM nor tvmq has it; docs: MIGRATING.md
"""

from __future__ import annotations

import importlib
from typing import Any

from tvmq.relay.tvm.forward import GONE, RemovedModule, forward
from tvmq.relay.tvm.nd import with_asnumpy

# Name -> "module:object", or "module" where the name is the module itself.
_OURS = {
    "IRModule": "tvmq.relay.module:IRModule",
    "autotvm": "tvmq.relay.tvm.autotvm",
    "context": "tvmq.relay.tvm.nd:device",
    "contrib": "tvmq.relay.tvm.contrib",
    "device": "tvmq.relay.tvm.nd:device",
    "gpu": "tvm:cuda",
    "ir": "tvmq.relay.tvm.ir",
    "nd": "tvmq.relay.tvm.nd",
    "ndarray": "tvmq.relay.tvm.nd",
    "parser": "tvmq.relay.tvm.parser",
    "register_func": "tvm:register_global_func",
    "relay": "tvmq.relay",
    "runtime": "tvmq.relay.tvm.runtime",
    "target": "tvmq.relay.tvm.target",
    "transform": "tvmq.relay.tvm.transform",
}

with_asnumpy()


def __getattr__(name: str) -> Any:
    """A name of ours, else TVM's (PEP 562); AttributeError, with what to do, for all others."""
    if name in _OURS:
        module_name, _, attribute = _OURS[name].partition(":")
        module = importlib.import_module(module_name)
        return getattr(module, attribute) if attribute else module
    if name in GONE:
        return RemovedModule(f"tvm.{name}", GONE[name])
    return forward("tvm", name)


def __dir__() -> list[str]:
    """Ours and TVM's."""
    return sorted({*_OURS, *GONE, *dir(importlib.import_module("tvm"))})
