"""Layer, rms, group and instance norm in our own float definition."""

from __future__ import annotations

from math import prod

from tvm import relax

from tvmq.graph.sizes import free_names
from tvmq.graph.view import View, const_value, is_const, make_const, op_name, shape_of
from tvmq.kernels.norm.group_norm import Norm
from tvmq.kernels.norm.layer_norm import LayerNorm
from tvmq.kernels.parts.reciprocal_quantize import Codes
from tvmq.lower.lowerer import Lowerer
from tvmq.lower.patterns.chains import Chain
from tvmq.lower.select import layer_norm_kernel, norm_kernel


def lower(lowerer: Lowerer, chain: Chain) -> bool:
    """One kernel, on the layout of the IR."""
    call = lowerer.view.value[chain.head]
    if op_name(call) != "tvmq.group_norm":
        return _rows(lowerer, chain)
    shape = shape_of(call)
    norm = Norm(shape[0], shape[1], prod(shape[2:]), int(call.attrs.groups), float(call.attrs.epsilon))
    kernel = norm_kernel(norm, lowerer.isa)
    if kernel is None:
        return False
    rows = (norm.batch, norm.channels, norm.positions)
    x = lowerer.reshaped(lowerer.logical(call.args[0].name), rows, f"{chain.result}_rows")
    factors = [_vector(lowerer, arg, norm.channels, chain.result) for arg in call.args[1:]]
    result = lowerer.call(kernel, [x, *factors], rows, "float32", f"{chain.result}_normalized")
    lowerer.give_logical(chain.result, lowerer.reshaped(result, shape, chain.result))
    return True


def _rows(lowerer: Lowerer, chain: Chain) -> bool:
    """Layer and rms norm, with a sum before and codes behind where the chain has them."""
    view = lowerer.view
    call = view.value[chain.head]
    total = chain.members[0] if chain.members[0] != chain.head else None
    behind = chain.after_head()
    quantize = view.value[behind[-1]] if behind else None
    scaled = view.value[behind[0]].args[1] if len(behind) > 1 else None
    outputs = {}
    if total is not None and _is_read(view, total, chain):
        outputs["sum"] = total
    if quantize is None or _is_read(view, chain.head, chain):
        outputs["norm"] = chain.head
    if quantize is not None:
        outputs["codes"] = behind[-1]
    centred, codes, scale = op_name(call) == "tvmq.layer_norm", None, 1.0
    if quantize is not None:
        attrs = quantize.attrs
        scale, zero_point = (const_value(arg).reshape(-1)[0] for arg in quantize.args[1:])
        codes = Codes(int(zero_point), int(attrs.qmin), int(attrs.qmax), str(attrs.dtype))
    shape, axes, epsilon = list(call.ty.shape), int(call.attrs.axes), float(call.attrs.epsilon)
    sizes = free_names(shape)
    if not all(isinstance(size, int) for size in sizes[len(sizes) - axes :]):
        return False
    norm = LayerNorm(sizes, axes, epsilon, centred, total is not None, codes, tuple(outputs), scaled is not None)
    kernel = layer_norm_kernel(norm, float(scale), lowerer.isa)
    if kernel is None:
        return False
    sources = [call.args[0].name] if total is None else [arg.name for arg in view.value[total].args]
    factors = [_vector(lowerer, arg, norm.length, chain.result) for arg in call.args[1:]]
    inputs = [*map(lowerer.logical, sources), *factors]
    if scaled is not None:
        inputs.append(_vector(lowerer, scaled, norm.length, chain.result))
    kinds = {"sum": "float32", "norm": "float32", "codes": "" if codes is None else codes.dtype}
    values = lowerer.call_all(kernel, inputs, [(name, shape, kinds[key]) for key, name in outputs.items()])
    for name, value in zip(outputs.values(), values, strict=True):
        lowerer.give_logical(name, value)
    return True


def _is_read(view: View, name: str, chain: Chain) -> bool:
    """True if anything outside of the chain reads a member."""
    return view.is_output(name) or any(reader not in chain.members for reader in view.readers[name])


def _vector(lowerer: Lowerer, arg: relax.Expr, channels: int, name: str) -> relax.Expr:
    """gamma or beta as [channels]."""
    if is_const(arg):
        return make_const(const_value(arg).reshape(channels))
    return lowerer.reshaped(lowerer.logical(arg.name), (channels,), f"{name}_factor")
