"""Hand a state on in codes: its input takes the codes that its output gives, with nothing rounded between two calls.

Before                                            After
    main(x, h_in):                                    main(x, h_in in uint8):
        h_q = quantize(h_in, s, z)                        ...
        ...                                               return y, q
        h_out = dequantize(q, s, z)
        return y, h_out

Needs     a realized module; annotate and unify_scales gave the input and the output of the state one scale.
Leaves    a state that integer layers do not both read and write, in its own type: floats pass between the calls as
          they are.
Numerics  quantize(dequantize(q, s, z), s, z) is q. What reads the input as floats gets its codes dequantized.
"""

from __future__ import annotations

import tvm
from tvm import relax

from tvmq.graph import ops
from tvmq.graph.ledger import get_ledger, require_stage, with_ledger
from tvmq.graph.rewrite import Rewriter
from tvmq.graph.state_pairs import state_variables, with_codes, with_pairs
from tvmq.graph.view import View, dtype_of, flatten_tuples, op_name, used_vars
from tvmq.numerics.spec import QParams
from tvmq.passes.families.conversions import tensor_qparams
from tvmq.state.pair import StatePair


def state_codes(mod: tvm.IRModule) -> tvm.IRModule:
    """Keep the states of a module in codes, where integer layers read and write them."""
    require_stage(mod, "state_codes", ("realized",))
    view = View(mod)
    pairs = {pair.input: pair for pair, _, _ in state_variables(view)}
    coded: dict[str, tuple[StatePair, relax.Expr]] = {}
    for pair, param, result in state_variables(view):
        qparams = _common_scale(view, param, result)
        if qparams is not None:
            pairs[pair.input] = with_codes(pair, float(qparams.scale), int(qparams.zero_point))
            coded[param.name] = pairs[pair.input], result
    if not coded:
        return mod
    ledger = get_ledger(mod)
    for pair, result in coded.values():
        dtype = dtype_of(view.producer(result).args[0])  # type: ignore[union-attr]
        ledger.notes.append(f"state: {pair.input} is kept in {dtype} codes of scale {pair.scale:.6g}")
    return with_ledger(with_pairs(_rewrite(mod, coded), list(pairs.values())), ledger)


def _common_scale(view: View, param: relax.Var, result: relax.Expr) -> QParams | None:
    """Scale by which a state is quantized where it is read, and dequantized where it is given."""
    result_call = view.producer(result)
    if result_call is None or op_name(result_call) != "tvmq.dequantize" or dtype_of(result_call.args[0]) == "int32":
        return None
    read = [view.value[name] for name in view.readers[param.name] if op_name(view.value[name]) == "tvmq.quantize"]
    qparams = [tensor_qparams(call) for call in (result_call, *read)]
    scales = {(float(q.scale), int(q.zero_point), q.spec.dtype) if q is not None else None for q in qparams}
    return qparams[0] if read and len(scales) == 1 else None


def _rewrite(mod: tvm.IRModule, coded: dict[str, tuple[StatePair, relax.Expr]]) -> tvm.IRModule:
    """The module whose parameters and results of these states are codes."""
    rewriter = Rewriter(mod)
    view, codes, floats = rewriter.view, dict[str, relax.Var](), dict[str, relax.Var]()
    code_names = {result.name: view.value[result.name].args[0].name for _, result in coded.values()}
    params = []
    for param in rewriter.params:
        if param.name in coded:
            codes[param.name] = relax.Var(param.name, relax.TensorType(param.ty.shape, _type_of(view, param)))
            param = codes[param.name]
        params.append(param)
    for var, value in view.bindings:
        rewriter.at(var.name)
        read = value.args[0].name if op_name(value) == "tvmq.quantize" else ""
        if read in codes:
            rewriter.bind(var, codes[read])
            continue
        for name in (set(used_vars(value)) & codes.keys()) - floats.keys():
            floats[name] = rewriter.emit(_dequantize(codes[name], coded[name][0]), f"{name}_real")
            rewriter.bind(view.params[name], floats[name])
        rewriter.bind(var, rewriter.emit(rewriter.substitute(value), var.name))
    results = [view.var[code_names.get(leaf.name, leaf.name)] for leaf in flatten_tuples([view.func.body.body])]
    return rewriter.finish(params, [_as_result(rewriter, rewriter.substitute(leaf), codes) for leaf in results])


def _type_of(view: View, param: relax.Var) -> str:
    """Type of the codes that a state is read as."""
    return next(
        dtype_of(view.value[name]) for name in view.readers[param.name] if op_name(view.value[name]) == "tvmq.quantize"
    )


def _dequantize(codes: relax.Var, pair: StatePair) -> relax.Expr:
    scale, zero_point = relax.const(pair.scale, "float32"), relax.const(pair.zero_point, "int32")
    return ops.dequantize(codes, scale, zero_point)


def _as_result(rewriter: Rewriter, var: relax.Expr, codes: dict[str, relax.Var]) -> relax.Expr:
    """A variable of the function's own: a parameter that is handed on as it is gets one."""
    if not any(var.same_as(param) for param in codes.values()):
        return var
    return rewriter.emit(relax.op.astype(var, dtype_of(var)), f"{var.name}_next")
