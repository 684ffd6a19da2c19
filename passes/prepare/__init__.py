"""Bind the parameters, fold constants and batch norm: the float module that all later passes see.

Before                                        After
    c = conv2d(x, w)                              c = conv2d(x, w * a)
    b = add(c, bias)                              b = add(c, bias * a + shift)
    n = batch_norm(b, gamma, beta, mean, var)
    y = n[0]                                      (y is b)

Needs     an imported module; `params` for the weights that are still function parameters.
Leaves    norms and gelu written out are recognized, see recognize.py;
          softmax and the normalizations become operators of our own, see normalizations.py;
          a resize to one row or column that aligns corners becomes operators of our own, see resampling.py;
          gathers of every element are reshapes, see identity_gathers.py;
          products have their constant on the right and no numbers multiplied into their operands, see
          matrix_products.py; a batch norm behind the relu of a convolution becomes maximum and minimum of constants
          behind it; one that follows no convolution or matrix product becomes multiply and add of constants.
Numerics  the folded weights are computed in float64 and rounded once to float32.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvmq import numerics
from tvmq.errors import ModelError
from tvmq.graph.analysis.infinities import misused_at, selected_operand
from tvmq.graph.analysis.limits import size_limits
from tvmq.graph.indices import refuse_outside
from tvmq.graph.ledger import get_ledger, with_ledger
from tvmq.graph.names import WEIGHTS, merge
from tvmq.graph.operators import OPERATORS, where
from tvmq.graph.operators.record import CONVOLUTION, PRODUCT, TRANSPOSED
from tvmq.graph.patterns.rules import RewriteRule, RewriteRules
from tvmq.graph.rewrite import Rewriter
from tvmq.graph.symbolic import resolve_shapes
from tvmq.graph.view import View, const_value, dtype_of, is_const, make_const, op_name, rank_of, sizes_of
from tvmq.passes.families.absorb import clip_bounds
from tvmq.passes.fold_constants import fold
from tvmq.passes.prepare.identity_gathers import replace_identity_gather
from tvmq.passes.prepare.matrix_products import product
from tvmq.passes.prepare.normalizations import replace_normalizations
from tvmq.passes.prepare.recognize import recognize
from tvmq.passes.prepare.recognize_functions import function
from tvmq.passes.prepare.resampling import corners_meet, resample_operators

SCALABLE = where(kind=(CONVOLUTION, TRANSPOSED, PRODUCT), is_own=False)
LARGEST = float(np.finfo(np.float32).max)
SIMPLIFICATIONS = RewriteRules(
    RewriteRule("nn.dropout(x)[0]", lambda x: x),
    # one part, which Relax does not put into a tuple
    RewriteRule("part := split(x)", lambda x: x, lambda part: isinstance(part.ty, relax.TensorType)),
    RewriteRule("call := where(const(condition), x, y)", lambda call: _select_operand(call)),
    RewriteRule("call := image.resize2d()", resample_operators, corners_meet, dtype="float32"),
)
CONSTANTS_LAST = RewriteRules(
    RewriteRule("call := (add | multiply | maximum | minimum)(const(c), x)", lambda call: _swap_operands(call)),
    RewriteRule("subtract(x, const(c))", lambda x, c: relax.op.add(x, make_const(-const_value(c)))),
)


def prepare(mod: tvm.IRModule, params: Mapping[str, np.ndarray] | None = None) -> tvm.IRModule:
    """Bind and fold `params`, {parameter name: array}; raises ModelError on NaN or infinite weights."""
    mod = resolve_shapes(_bind(mod, params or {}))
    rewriter = Rewriter(mod)
    for var, value in rewriter.view.bindings:
        rewriter.at(var.name)
        value = rewriter.substitute(value)
        new = _simplify(rewriter, var, value)
        rewriter.bind(var, new if isinstance(new, relax.Var) or is_const(new) else rewriter.emit(new, var.name))
    result = replace_normalizations(recognize(rewriter.finish()))
    size_limits(result)  # refuses slices that nothing keeps inside
    view = View(result)
    for var, value in view.bindings:
        refuse_outside(value, f"prepare, layer '{', '.join(view.sources(var.name))}': {op_name(value)}")
    ledger = get_ledger(result)
    ledger.stage = "prepared"
    return with_ledger(result, ledger)


def _bind(mod: tvm.IRModule, params: Mapping[str, np.ndarray]) -> tvm.IRModule:
    """Replace weight parameters by constants."""
    rewriter = Rewriter(mod)
    names = [p.name for p in rewriter.params]
    unknown = sorted(set(params) - set(names))
    if unknown:
        raise ModelError(f"prepare: params name '{unknown[0]}', which is no parameter of the module; it has {names}")
    missing = [name for name in names[_input_count(mod, len(names)) :] if name not in params]
    if missing:
        raise ModelError(
            f"prepare: {len(missing)} weights have no values, first '{missing[0]}'; give the params that "
            "from_onnx returned beside the module: quantize(mod, params, data), build(mod, params=params)"
        )
    kept = []
    for param in rewriter.params:
        if param.name not in params:
            kept.append(param)
            continue
        weight: Any = params[param.name]
        array = np.asarray(weight.numpy() if hasattr(weight, "numpy") else weight)
        _check_weight(rewriter.view, param, array)
        rewriter.bind(param, relax.const(array, str(param.ty.dtype)))
    for var, value in rewriter.view.bindings:
        rewriter.at(var.name)
        rewriter.bind(var, rewriter.emit(rewriter.substitute(value), var.name))
    bound = rewriter.finish(kept)
    bound["main"] = bound["main"].without_attr(WEIGHTS)
    return bound


def _input_count(mod: tvm.IRModule, count: int) -> int:
    """How many of `count` parameters are inputs; what from_onnx did not make has no weights among them."""
    attributes = mod["main"].attrs
    return int(attributes["num_input"]) if attributes and "num_input" in attributes else count


def _check_weight(view: View, param: relax.Var, array: np.ndarray) -> None:
    """Refuse other shapes, NaN and infinities; infinities stay where they mask (all other values are 0 or less), and
    where every reader has a finite result for them."""
    declared = [int(d) if isinstance(d, tvm.tirx.IntImm) else None for d in param.ty.shape]
    if len(declared) != array.ndim or any(d not in (None, size) for d, size in zip(declared, array.shape, strict=True)):
        raise ModelError(
            f"prepare: weight '{param.name}' has shape {array.shape}, the module takes {declared}; "
            "give the params that belong to it"
        )
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return
    if not np.isnan(array).any() and (array <= 0).all():
        return
    wrong = misused_at(view, param.name, array)
    if wrong is None:
        return
    count = int((~np.isfinite(array)).sum())
    reached = "" if wrong == param.name else f", which reach '{wrong}'"
    raise ModelError(
        f"prepare: weight '{param.name}' holds {count} NaN or infinite of {array.size} values{reached}; "
        "repair the trained model before quantizing it"
    )


def _simplify(rewriter: Rewriter, var: relax.Var, value: relax.Expr) -> relax.Expr:
    folded = fold(value)
    if folded is not None:
        return folded
    if isinstance(value, relax.TupleGetItem) and _is_constant_batch_norm(rewriter, value):
        return _batch_norm(rewriter, var, rewriter.value_of(value.tuple_value))
    simpler = SIMPLIFICATIONS.visit(rewriter, var, value)
    if simpler is None:
        simpler = replace_identity_gather(rewriter, var, value)
    if simpler is not None:
        return simpler
    if op_name(value) == "matmul":
        return product(rewriter, var, value)
    ordered = CONSTANTS_LAST.visit(rewriter, var, value)
    value = value if ordered is None else ordered
    # integers have no weights that a factor could go into
    is_float = isinstance(var.ty, relax.TensorType) and dtype_of(var) == "float32"
    if is_float and (normal_form := function(rewriter, var, value)) is not None:
        return normal_form  # before a product takes its 0.5 for a scale
    if is_float and op_name(value) in ("add", "multiply") and is_const(value.args[1]) and not is_const(value.args[0]):
        return _scale_or_shift(rewriter, var, value)
    return value


def _select_operand(value: relax.Call) -> relax.Expr | None:
    """The operand that a constant condition takes for all elements of a result of its shape."""
    place = selected_operand(value)
    return value.args[place] if place is not None and sizes_of(value.args[place]) == sizes_of(value) else None


def _swap_operands(value: relax.Call) -> relax.Call:
    return relax.Call(value.op, [value.args[1], value.args[0]], value.attrs, value.ty_args, value.span)


def _is_constant_batch_norm(rewriter: Rewriter, value: relax.TupleGetItem) -> bool:
    """True for the normalized tensor of a batch norm of constants, of which nothing else is read."""
    source = rewriter.value_of(value.tuple_value)
    if source is None or op_name(source) != "nn.batch_norm" or value.index != 0 or source.attrs.training:
        return False
    if any(_array(rewriter, arg) is None for arg in source.args[1:5]):
        return False
    return sum(len(rewriter.view.readers[name]) for name in rewriter.old_names(value.tuple_value)) == 1


def _array(rewriter: Rewriter, arg: relax.Expr) -> np.ndarray | None:
    """The value of a constant, dequantized if it is stored as codes; None for all other expressions."""
    if is_const(arg):
        return const_value(arg)
    value = rewriter.value_of(arg)
    if value is None or op_name(value) != "tvmq.dequantize" or not all(map(is_const, value.args)):
        return None
    axis = int(value.attrs.axis)
    return numerics.dequantize(*map(const_value, value.args), axis=axis if axis >= 0 else None)


def _batch_norm(rewriter: Rewriter, var: relax.Var, call: relax.Call) -> relax.Expr:
    """y = (x - mean) / sqrt(variance + epsilon) * gamma + beta as one multiply and one add."""
    x, attrs = call.args[0], call.attrs
    gamma, beta, mean, variance = (np.asarray(_array(rewriter, arg), np.float64) for arg in call.args[1:5])
    scale = (gamma if attrs.scale else 1.0) / np.sqrt(variance + attrs.epsilon)
    shift = (beta if attrs.center else 0.0) - mean * scale
    shape = [1] * rank_of(x)
    shape[int(attrs.axis)] = -1
    behind_clip = _fold_through_clip(rewriter, x, scale.reshape(shape), shift.reshape(shape))
    if behind_clip is not None:
        return behind_clip
    if not _absorb(rewriter, x, scale.reshape(shape)):
        scaled = rewriter.emit(relax.op.multiply(x, _float32_const(scale.reshape(shape))), f"{var.name}_scale")
        return relax.op.add(scaled, _float32_const(shift.reshape(shape)))
    return _add_shift(rewriter, x, shift.reshape(shape))


def _fold_through_clip(rewriter: Rewriter, x: relax.Var, scale: np.ndarray, shift: np.ndarray) -> relax.Expr | None:
    """clip(conv) * scale + shift as the clip, by bounds of each channel, of a convolution that holds both.

    None where `x` is no relu or clip of a convolution or product.
    """
    value = rewriter.value_of(x)
    bounds = clip_bounds(value, op_name(value)) if value is not None else None
    if value is None or bounds is None or not isinstance(value.args[0], relax.Var):
        return None
    inner = value.args[0]
    if not rewriter.read_once(x) or not _absorb(rewriter, inner, scale):
        return None
    rewriter.sources = merge(rewriter.names.get(x.name, ()), rewriter.sources)
    y = _add_shift(rewriter, inner, shift)
    ends = [np.where(scale == 0, 0.0, bound * np.where(scale == 0, 1.0, scale)) + shift for bound in bounds]
    low, high = np.minimum(*ends), np.maximum(*ends)
    if np.isfinite(low).any():
        y = relax.op.maximum(_as_variable(rewriter, y, x), _float32_const(np.maximum(low, -LARGEST)))
    if np.isfinite(high).any():
        y = relax.op.minimum(_as_variable(rewriter, y, x), _float32_const(np.minimum(high, LARGEST)))
    return y


def _as_variable(rewriter: Rewriter, value: relax.Expr, like: relax.Var) -> relax.Var:
    return value if isinstance(value, relax.Var) else rewriter.emit(value, f"{like.name}_add_shift")


def _float32_const(array: np.ndarray) -> relax.Expr:
    return relax.const(np.asarray(array, np.float32))


def _scale_or_shift(rewriter: Rewriter, var: relax.Var, value: relax.Call) -> relax.Expr:
    """Fold multiply(conv, c) into the weight and add(add(conv, b), c) into one bias, where c is per channel."""
    x, constant = value.args
    array = const_value(constant).astype(np.float64)
    if op_name(value) == "multiply":
        if array.ndim <= rank_of(x) and _absorb(rewriter, x, array):
            return _add_shift(rewriter, x, np.zeros_like(array))
        return value
    below = rewriter.value_of(x)
    if below is not None and op_name(below) == "add" and is_const(below.args[1]) and rewriter.read_once(x):
        base = rewriter.value_of(below.args[0])
        if base is not None and op_name(base) in SCALABLE:
            bias = const_value(below.args[1]).astype(np.float64)
            total = bias + array
            # a bias that came to vary over pixels would be none any more
            grows = total.size > max(bias.size, array.size)
            if not grows and np.broadcast_shapes(total.shape, _broadcast_shape(x)) == tuple(_broadcast_shape(x)):
                rewriter.replace(x, relax.op.add(below.args[0], _float32_const(total)), rewriter.view.sources(var.name))
                return x
    return value


def _broadcast_shape(x: relax.Expr) -> tuple[int, ...]:
    """Shape with symbolic dimensions as 1, for questions of broadcasting only."""
    return tuple(int(d) if isinstance(d, tvm.tirx.IntImm) else 1 for d in x.ty.shape)


def _absorb(rewriter: Rewriter, x: relax.Expr, scale: np.ndarray) -> bool:
    """Multiply the weight of the convolution or product behind `x` by `scale` (per channel); False if there is none."""
    if not isinstance(x, relax.Var) or not rewriter.read_once(x):
        return False
    value = rewriter.value_of(x)
    if value is not None and op_name(value) == "add" and is_const(value.args[1]):
        inner = value.args[0]
        if not isinstance(inner, relax.Var) or not rewriter.read_once(inner):
            return False
        if not _scale_weight(rewriter, inner, scale):
            return False
        bias = const_value(value.args[1]).astype(np.float64) * scale
        rewriter.replace(x, relax.op.add(inner, _float32_const(bias)))
        return True
    return _scale_weight(rewriter, x, scale)


def _scale_weight(rewriter: Rewriter, var: relax.Var, scale: np.ndarray) -> bool:
    call = rewriter.value_of(var)
    if call is None or op_name(call) not in SCALABLE or not is_const(call.args[1]):
        return False
    name = op_name(call)
    weight = const_value(call.args[1]).astype(np.float64)
    groups = int(call.attrs.groups) if name != "matmul" else 1
    record = OPERATORS[name]
    channels = weight.shape[record.weight_axis or 0] * (groups if record.kind == TRANSPOSED else 1)
    flat = _per_channel(scale, rank_of(var), -1 if name == "matmul" else 1, channels)
    if flat is None or (name == "matmul" and weight.ndim != 2):
        return False
    if record.kind == TRANSPOSED:  # [in, out / groups, ...]: input channel i belongs to group i // (in / groups)
        per_group = flat.reshape(groups, -1).repeat(weight.shape[0] // groups, axis=0)
        weight = weight * per_group.reshape(per_group.shape + (1,) * (weight.ndim - 2))
    elif name == "matmul":
        weight = weight * flat
    else:
        weight = weight * flat.reshape((-1,) + (1,) * (weight.ndim - 1))
    new = relax.Call(call.op, [call.args[0], _float32_const(weight)], call.attrs, call.ty_args, call.span)
    rewriter.replace(var, new)
    return True


def _per_channel(scale: np.ndarray, rank: int, axis: int, channels: int) -> np.ndarray | None:
    """A constant that varies along the channel axis only, as [channels]; None if it varies elsewhere."""
    scale = np.asarray(scale)
    if scale.size == 1:
        return np.full(channels, float(scale.reshape(())))
    full = scale.reshape((1,) * (rank - scale.ndim) + scale.shape)
    expected = [1] * rank
    expected[axis] = channels
    return full.reshape(-1) if list(full.shape) == expected else None


def _add_shift(rewriter: Rewriter, x: relax.Var, shift: np.ndarray) -> relax.Expr:
    """x + shift, into the bias that is there already if there is one."""
    value = rewriter.value_of(x)
    sources = rewriter.sources
    if value is None:
        return relax.op.add(x, _float32_const(shift))
    if op_name(value) == "add" and is_const(value.args[1]):
        total = const_value(value.args[1]).astype(np.float64) + shift
        rewriter.replace(x, relax.op.add(value.args[0], _float32_const(total)), sources)
        return x
    if not np.any(shift):
        rewriter.replace(x, value, sources)
        return x
    return relax.op.add(x, _float32_const(shift))
