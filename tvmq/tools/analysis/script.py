"""`tvmq.script`: a module as readable text, with its ledger as a table below the code.

Tests: tests/runtime/artifact/test_module_bytes.py
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tvm
from tvm import relax

from tvmq.graph.ledger import Ledger, check_module, get_ledger
from tvmq.graph.module_functions import plain_module
from tvmq.options.config import DEFAULTS
from tvmq.runtime.executable import Executable
from tvmq.tools.analysis.explanation import Explanation

OURS = "tvmq."  # attributes of functions that hold names and decisions as JSON


def script(model: tvm.IRModule | Executable, *, show_meta: bool = False) -> str:
    """TVMScript of a module, followed by the ledger as comments: stage, options, one line per layer, notes.

    model      a module at any stage, or an executable
    show_meta  True includes all constants, so that the text parses to the same code, without decisions

    `mod.script(show_meta=True)` parses back to the whole module; it has the decisions as one line of JSON above the
    code.

    >>> x, builder = tvm.relax.Var("x", tvm.relax.TensorType([1, 8], "float32")), tvm.relax.BlockBuilder()
    >>> with builder.function("main", [x]):
    ...     y = builder.emit(tvm.relax.op.nn.relu(x), "act")
    ...     _ = builder.emit_func_output(y)
    >>> script(builder.get()).splitlines()[-1]
    '# stage imported'
    """
    mod = plain_module(check_module(model.module if isinstance(model, Executable) else model))
    return f"{_without_attributes(mod).script(show_meta=show_meta).rstrip()}\n\n{format_ledger(get_ledger(mod))}\n"


def _without_attributes(mod: tvm.IRModule) -> tvm.IRModule:
    """Module without the attributes of tvmq."""
    result = mod.clone()
    for var, func in mod.functions_items():
        if isinstance(func, relax.Function):
            for name in [str(key) for key in func.attrs.keys() if str(key).startswith(OURS)] if func.attrs else []:
                func = func.without_attr(name)
            result[var] = func
    return result


def format_ledger(ledger: Ledger) -> str:
    """Format a ledger as comments."""
    lines = [f"stage {ledger.stage}"]
    if ledger.layers:
        lines += [f"backend {ledger.backend}; options {_options(ledger.config)}", ""]
        lines += str(Explanation(ledger)).splitlines()
    else:
        lines += [f"note: {note}" for note in ledger.notes]
    return "\n".join(f"# {line}".rstrip() for line in lines)


def _options(config: Mapping[str, Any]) -> str:
    """Options that differ from the defaults.

    >>> _options({"nbit_weight": 4, "calibrate_mode": DEFAULTS.calibrate_mode})
    'nbit_weight=4'
    """
    usual = DEFAULTS.to_dict()
    changed = [f"{name}={value!r}" for name, value in config.items() if value != usual.get(name, value)]
    return ", ".join(changed) or "defaults"
