"""A match as the function that a code generator of TVM takes: what FuseOpsByPattern(annotate_codegen=True) makes.

fused_chip(x):                          attributes Codegen = "chip", global_symbol
    local(x):                           attributes Composite = "chip.conv_add", Primitive
        a = nn.conv2d(x, constant)
        return add(a, constant)
    return local(x)

Tests: tests/codegen/custom_lowering/test_generators.py
"""

from __future__ import annotations

from tvm import relax

from tvmq.codegen.custom_lowering.lowering import Codegen
from tvmq.codegen.custom_lowering.selection import LoweringMatch
from tvmq.graph.rewrite import build_function, replace_variables


def generated_function(hit: LoweringMatch, symbol: str) -> relax.Function:
    """The function, whose constants stand inside of it."""
    match, to = hit.match, hit.lowering.to
    assert isinstance(to, Codegen)
    name = hit.lowering.name
    composite = name if name.startswith(f"{to.name}.") else f"{to.name}.{name}"
    inner = _composite(hit).with_attr("Composite", composite).with_attr("Primitive", True)
    params = [relax.Var(var.name, var.ty) for var in match.inputs]
    builder = relax.BlockBuilder()
    local = relax.Var("local", inner.ty)
    call = relax.Call(local, params)
    with builder.function(symbol, params):
        builder.emit_normalized(relax.VarBinding(local, inner))
        builder.emit_func_output(builder.emit(call, match.result.name))
    return builder.get()[symbol].with_attr("Codegen", to.name).with_attr("global_symbol", symbol)


def _composite(hit: LoweringMatch) -> relax.Function:
    match = hit.match
    params = [relax.Var(var.name, var.ty) for var in match.inputs]
    renamed = dict(zip((var.name for var in match.inputs), params, strict=True))
    bindings = []
    for name, call in match.calls.items():
        var = match.result if name == match.result.name else relax.DataflowVar(name, call.ty)
        bindings.append((var, replace_variables(call, renamed)))
        renamed[name] = var
    like = relax.Function(params, relax.Tuple([]), is_pure=True)
    return build_function(params, bindings, match.result, like)
