"""Layers of a written file, each computed from the codes of the definition, so that no error reaches the next layer.

    check_onnx(module, model, dialect, feed)   onnxruntime's float kernels compute what lies between the codes of a file
    check_decomposed(module, feed)             torch computes it in to_torch(form="decomposed")
    check_exact(module, feed)                  to_torch(form="exact"): every integer equals, every float but for its rounding

Files with quantize and dequantize operators compute in floats, so a code of the definition is held against the real number
that the file rounds: it lies nearest. Room is there for what the definition itself rounds (see `Room`), not for layers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import tvm
from onnx import helper, numpy_helper

from tests.support.float_products import run_in_float
from tvmq.formats.onnx.exporter.dialects import Dialect
from tvmq.formats.onnx.exporter.graph import CodedTensor
from tvmq.formats.onnx.exporter.writer import OnnxWriter
from tvmq.graph.module_functions import plain_module
from tvmq.graph.view import View, dtype_of
from tvmq.numerics.code_type import CODES_16
from tvmq.reference import Reference

LOOPS = ("LSTM", "GRU", "RNN")
# Of a step: float32 beside real numbers at a tie, with sums of up to 2^15 steps in front of a clip.
NEAR = 0.004
# Of the largest value of a tensor: one float operator in another order of sums, or by another library's exp.
ROUNDING = 1e-5
# The loop of LSTM, GRU and RNN has states of codes in the definition and of floats in a file (docs/quantized-models.md):
# its tensors, and those up to the next codes, agree to this SQNR in place.
LOOP_DB = 30.0


class Differs(Exception):
    """Values that are not those of the definition."""


def values_of_definition(module: tvm.IRModule, feed: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Values of all variables, and the results, which may be constants."""
    values: dict[str, Any] = {}
    results = Reference(module).run(feed, watch=values.__setitem__)
    return values | {"results": results}


def ends_at_lowest(values: Mapping[str, Any]) -> bool:
    """True where codes of int8 are at their lowest, -127: a dialect without that bound has -128 there."""
    return any(getattr(value, "dtype", "") == "int8" and (value == -127).any() for value in values.values())


def names_of_codes(module: tvm.IRModule, dialect: Dialect) -> dict[str, str]:
    """{tensor of codes in the file: variable of the module}."""
    exporter = OnnxWriter(plain_module(module), dialect)
    exporter.run()
    names: dict[str, str] = {}
    for var, value in exporter.values.items():
        for i, part in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(part, CodedTensor):  # a pad that became part of a convolution names the tensor in front of it
                names.setdefault(part.codes, var if part is value else f"{var}/{i}")
    for i, (var, name) in enumerate(zip(exporter.results, exporter.outputs, strict=True)):
        names[name] = getattr(var, "name", f"results/{i}")
    return names


class Rooms(dict[str, float]):
    """{variable: steps between its integers and the real numbers that they stand for}.

    tvmq.add, scale_shift and prelu round their factors to 2^-shift: a code of 16 bits moves a result further than one of 8.
    """

    def __init__(self, module: tvm.IRModule) -> None:
        for var, call in View(plain_module(module)).bindings:
            shift = getattr(getattr(call, "attrs", None), "shift", None)
            if shift is not None:
                tensors = [arg for arg in call.args if dtype_of(arg) in CODES_16]
                reach = sum(2.0 ** (16 if dtype_of(arg) == "int16" else 8) for arg in tensors)
                self[var.name] = NEAR + (reach / 2 + 1) * 2.0 ** -int(shift)

    def __missing__(self, name: str) -> float:
        return NEAR


def check_codes(
    name: str, real: np.ndarray, scale: Any, zero: Any, codes: np.ndarray, room: float, lowest: int
) -> None:
    """Codes beside the real numbers that a file rounds to them; raises Differs.

    lowest  codes below are this one: a dialect may leave a bound to the type, or the module may not
    """
    if real.shape != codes.shape:
        raise Differs(f"'{name}': {list(real.shape)} for {list(codes.shape)}")
    highest = np.iinfo(codes.dtype).max
    with np.errstate(all="ignore"):
        steps = np.clip(real.astype(np.float64) / np.float64(scale) + np.float64(zero), lowest, highest)
        away = np.abs(steps - np.maximum(codes, lowest))
    wrong = (away > 0.5 + room) & ~np.isnan(steps)
    if wrong.any():
        first = tuple(np.argwhere(wrong)[0])
        raise Differs(
            f"'{name}': {int(wrong.sum())} of {wrong.size} codes, {float(np.nanmax(away)):.4f} steps away, first "
            f"{codes[first]} for {steps[first]:.5f}"
        )


def check_loop(name: str, given: np.ndarray, wanted: np.ndarray) -> None:
    """Floats behind a loop over time."""
    noise = float(np.square(given.astype(np.float64) - wanted).sum())
    if given.shape != wanted.shape or noise * 10 ** (LOOP_DB / 10) > float(np.square(wanted, dtype=np.float64).sum()):
        raise Differs(f"'{name}': {noise:.3g} beside {float(np.square(wanted, dtype=np.float64).sum()):.3g}")


def check_floats(name: str, given: np.ndarray, wanted: np.ndarray) -> None:
    """Floats within ROUNDING of the largest one; everything else equal."""
    if given.shape != wanted.shape or given.dtype != wanted.dtype:
        raise Differs(f"'{name}': {given.dtype}{list(given.shape)} for {wanted.dtype}{list(wanted.shape)}")
    room = 0.0
    if wanted.dtype.kind == "f":
        room = ROUNDING * float(np.max(np.abs(wanted[np.isfinite(wanted)]), initial=1e-6))
    with np.errstate(invalid="ignore"):
        same = (given == wanted) | ((given != given) & (wanted != wanted))
        wrong = ~(same | (np.abs(given.astype(np.float64) - wanted) <= room))
    if wrong.any():
        raise Differs(
            f"'{name}': {int(wrong.sum())} of {wrong.size} values, first {given[wrong][0]} for {wanted[wrong][0]}"
        )


def cut_at_codes(model: onnx.ModelProto, codes: Mapping[str, np.ndarray]) -> onnx.ModelProto:
    """A model that is given its codes as inputs, and gives the real numbers in front of each QuantizeLinear besides."""
    cut = onnx.ModelProto()
    cut.CopyFrom(model)
    nodes = list(cut.graph.node)
    del cut.graph.node[:]
    outputs = {value.name for value in cut.graph.output}
    for node in nodes:
        if node.op_type != "QuantizeLinear":
            cut.graph.node.append(node)
            continue
        array = codes[node.output[0]]
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        name = node.output[0]
        if name in outputs:  # a graph's output cannot be its input
            cut.graph.output.remove(next(value for value in cut.graph.output if value.name == name))
        cut.graph.input.append(helper.make_tensor_value_info(name, kind, array.shape))
        cut.graph.node.append(helper.make_node("Identity", [node.input[0]], [f"real of {name}"]))
        cut.graph.output.append(helper.make_tensor_value_info(f"real of {name}", onnx.TensorProto.FLOAT, None))
    return cut


def check_onnx(module: tvm.IRModule, model: onnx.ModelProto, dialect: Dialect, feed: Mapping[str, np.ndarray]) -> int:
    """Compare a file's values with those of the definition; returns their number, raises Differs."""
    values, names = values_of_definition(module, feed), names_of_codes(module, dialect)
    nodes = [node for node in model.graph.node if node.op_type == "QuantizeLinear"]
    codes = {node.output[0]: _part(values, names[node.output[0]]) for node in nodes}
    cut = cut_at_codes(model, codes)
    results = dict(zip([value.name for value in cut.graph.output], run_in_float(cut, {**feed, **codes}), strict=True))
    constants = {array.name: numpy_helper.to_array(array) for array in model.graph.initializer}
    looped, rooms = behind_loops(cut), Rooms(module)
    for node in nodes:
        name = node.output[0]
        scale, zero = (constants[given] for given in node.input[1:])
        real, wanted = results.pop(f"real of {name}"), codes[name]
        if f"real of {name}" in looped:
            check_loop(name, real, (wanted.astype(np.float64) - zero) * np.float64(scale))
            continue
        lowest = np.iinfo(wanted.dtype).min + int(not dialect.clips_lowest)
        check_codes(name, real, scale, zero.astype(np.int32), wanted, rooms[names[name]], lowest)
    for name, value in results.items():
        check = check_loop if name in looped else check_floats
        check(name, value, np.asarray(_part(values, names[name])))
    return sum(array.size for array in (*codes.values(), *results.values()))


def behind_loops(model: onnx.ModelProto) -> set[str]:
    """Tensors that read what a loop over time gives, up to the next codes."""
    found: set[str] = set()
    for node in model.graph.node:
        if node.op_type in LOOPS or found.intersection(node.input):
            found.update(node.output)
    return found


def check_decomposed(net: Any, module: tvm.IRModule, feed: Mapping[str, np.ndarray]) -> int:
    """Compare as check_onnx does, for to_torch(form="decomposed")."""
    import torch
    from torch import fx

    from tvmq.formats.torch.exporter.build_module import DECOMPOSED, _identifier
    from tvmq.formats.torch.exporter.to_torch import TORCH

    values, rooms = values_of_definition(module, feed), Rooms(module)
    names = {_identifier(name): var for name, var in names_of_codes(module, TORCH).items()}
    count = 0

    class Layers(fx.Interpreter):
        def run_node(self, n: fx.Node) -> Any:
            nonlocal count
            result = super().run_node(n)
            if n.target is not DECOMPOSED.quantize_per_tensor.default:
                return result
            var = names[n.name]
            codes = np.asarray(_part(values, var))
            real, scale, zero, lowest = self.fetch_args_kwargs_from_env(n)[0][:4]
            check_codes(n.name, real.numpy(), np.float32(scale), zero, codes, rooms[var], lowest)
            count += codes.size
            return torch.from_numpy(codes.copy()).to(result.dtype)

    return count + _check_results(Layers(net), feed, values)


def check_exact(net: Any, module: tvm.IRModule, feed: Mapping[str, np.ndarray]) -> int:
    """Every integer of to_torch(form="exact") beside the definition's; floats are handed on as defined."""
    import torch
    from torch import fx

    from tvmq.formats.torch.exporter.exact_build import ExactBuilder
    from tvmq.formats.torch.exporter.to_torch import TORCH

    values = values_of_definition(module, feed)
    builder = ExactBuilder(OnnxWriter(plain_module(module), TORCH), plain_module(module))
    builder.module()
    variables: dict[str, str] = {}
    for var, node in builder.values.items():
        if isinstance(node, fx.Node):
            variables.setdefault(node.name, var)
    count = 0

    class Layers(fx.Interpreter):
        def run_node(self, n: fx.Node) -> Any:
            nonlocal count
            result = super().run_node(n)
            wanted = values.get(variables.get(n.name, ""))
            if not isinstance(wanted, np.ndarray) or not isinstance(result, torch.Tensor):
                return result
            check_floats(n.name, result.numpy(), wanted)
            count += wanted.size
            return torch.from_numpy(wanted.copy())

    return count + _check_results(Layers(net), feed, values)


def _check_results(net: Any, feed: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> int:
    """The results of a network whose layers were checked on the way."""
    import torch

    with torch.no_grad():
        found = net.run(*(torch.from_numpy(np.array(value)) for value in feed.values()))
    found = list(found) if isinstance(found, tuple | list) else [found]
    wanted = values["results"]
    if len(found) != len(wanted):
        raise Differs(f"{len(found)} results for {len(wanted)}")
    for number, (a, b) in enumerate(zip(found, wanted, strict=True)):
        check_floats(f"result {number}", a.numpy(), np.asarray(b))
    return sum(np.asarray(b).size for b in wanted)


def _part(values: Mapping[str, Any], name: str) -> Any:
    """A variable's value, or one of its parts."""
    stem, _, part = name.partition("/")
    return values[stem][int(part)] if part else values[stem]
