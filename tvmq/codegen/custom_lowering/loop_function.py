"""The function of loops that computes a match: the user's, or one that calls a symbol of a library.

Tests: tests/codegen/custom_lowering/test_own_functions.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from tvm import te, tirx
from tvm.script.ir_builder import IRBuilder
from tvm.script.ir_builder import tirx as T

from tvmq.base.foreign_errors import reason
from tvmq.codegen.custom_lowering.lowering import Extern, Lowering
from tvmq.codegen.custom_lowering.match import Match
from tvmq.errors import BuildError, TvmqError
from tvmq.graph.view import dtype_of, sizes_of


class Loops(NamedTuple):
    """A PrimFunc of inputs, these constants and the result."""

    func: Any
    constants: tuple[np.ndarray, ...]


def function_for(lowering: Lowering, match: Match) -> Loops | str | None:
    """The function; a text says why the lowering does not take the match, None that it is no function of loops.

    raises   BuildError if the user's function fails, or gives something else
    """
    to = lowering.to
    if isinstance(to, Extern):
        return _calling(to, match) if to.convention == "pointers" else None
    if isinstance(to, tirx.PrimFunc):
        why = _misfit(to, match.parameter_types())
        return why or Loops(to, match.constants)
    return _run_user_function(lowering, match) if callable(to) else None


def _run_user_function(lowering: Lowering, match: Match) -> Loops | str:
    """Call the user's function and check its answer: loops, or a text that says why it does not take the match."""
    where = f"build: lowering '{lowering.name}', layer '{'/'.join(match.layers[:1])}'"
    try:
        answer = lowering.to(match)
    except TvmqError:
        raise
    except Exception as error:  # the user's code, and TVM's checks of it
        raise BuildError(f"{where}: its function fails: {type(error).__name__}: {reason(error)}") from error
    if isinstance(answer, str):
        return answer
    func, constants = answer if isinstance(answer, tuple) and len(answer) == 2 else (answer, match.constants)
    if isinstance(func, te.Tensor):
        func = _of_tensor(where, func, match)
    if not isinstance(func, tirx.PrimFunc):
        raise BuildError(
            f"{where}: its function gave a {type(func).__name__}; return a PrimFunc, a TE tensor, (PrimFunc, "
            "constants), or a text that says why it does not take the match"
        )
    arrays = tuple(np.asarray(constant, order="C") for constant in constants)
    types = match.parameter_types()
    parameters = [*types[: len(match.inputs)], *(f"{a.dtype}{list(a.shape)}" for a in arrays), types[-1]]
    why = _misfit(func, parameters)
    if why:
        raise BuildError(f"{where}: {why}")
    return Loops(func, arrays)


def _of_tensor(where: str, result: te.Tensor, match: Match) -> Any:
    """The PrimFunc of a computation in TE, whose parameters are the placeholders that it was made of."""
    parameters, known = [], {}
    stack = [result.op]
    while stack:
        operation = stack.pop()
        for tensor in operation.input_tensors:
            if tensor.op.name not in known:
                known[tensor.op.name] = tensor
                stack.append(tensor.op)
    for placeholder in match.placeholders():
        parameters.append(known.get(placeholder.op.name, placeholder))
    if not any(tensor.op.name in known for tensor in parameters):
        raise BuildError(f"{where}: its tensor is not made of match.placeholders(); begin with these")
    return te.create_prim_func([*parameters, result])


def _misfit(func: Any, types: Sequence[str]) -> str | None:
    """Why the parameters of a function are not those of a match."""
    params = [f"{param.dtype}{[_size(size) for size in param.shape]}" for param in func.params]
    if len(params) != len(types):
        return f"its function has {len(params)} parameters, the layer {len(types)}: {', '.join(types)}"
    for number, (has, wanted) in enumerate(zip(params, types, strict=True)):
        if has != wanted and "'" not in has + wanted:  # dynamic sizes have other names in a function
            return f"its function takes {has} as parameter {number}, the layer has {wanted}"
    return None


def _size(size: Any) -> Any:
    return int(size) if isinstance(size, int | tirx.IntImm) else str(size)


def _calling(extern: Extern, match: Match) -> Loops:
    """A function that hands the addresses on."""
    params = [(sizes_of(var), dtype_of(var)) for var in match.inputs]
    params += [(array.shape, str(array.dtype)) for array in match.constants]
    params.append((sizes_of(match.result), dtype_of(match.result)))
    dynamic = next((size for shape, _ in params for size in shape if isinstance(size, str)), None)
    if dynamic is not None:
        raise BuildError(
            f"build: lowering '{match.name}', layer '{'/'.join(match.layers[:1])}': its size '{dynamic}' is dynamic, "
            "and addresses do not tell it; use convention='packed', or fix it with sizes="
        )
    numbers = [int(number) for number in extern.extra(match)] if extern.extra else []
    builder, frame = IRBuilder(), T.prim_func(s_tir=True)
    with builder:
        with frame:
            T.func_name(extern.symbol)
            T.func_attr({"global_symbol": extern.symbol, "tirx.noalias": True})
            buffers = [T.arg(f"p{i}", T.buffer(shape, dtype)) for i, (shape, dtype) in enumerate(params)]
            addresses = [buffer.data for buffer in buffers]
            T.evaluate(T.call_extern("int32", extern.symbol, *addresses, *(tirx.const(n, "int64") for n in numbers)))
    return Loops(builder.get(), match.constants)
