"""A fuzz case: a wild model through all stages, and its outcome.

    outcome = run_case(model, feeds)        # never raises
    outcome.kind                            # "exact", "refused", "invalid", or a failure

Kinds     exact     float equals onnxruntime, integers equal the NumPy definition bit for bit
          refused   a clear error of tvmq's own says no
          invalid   onnxruntime refuses the model as well, and tvmq did not crash on it
Failures  crash     any other exception
          wrong     the float build differs from onnxruntime
          inexact   the integer build differs from the definition
          silent    a float operator of the integer module without a line in the ledger
          unclear   an error of tvmq without a message or with a traceback in it, or that TVM cannot compile the module
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx

from tests.support.fuzz.room import Feed, onnxruntime_results, room_of, rounding_room, values_of
from tvmq.base.text import printable_name

FAILURES = ("crash", "wrong", "inexact", "silent", "unclear")


@dataclass(frozen=True)
class Outcome:
    """Outcome of a case.

    kind    see the head of this file
    stage   import, build, quantize, run, ...: as far as it came
    text    the error, or what differs
    """

    kind: str
    stage: str = ""
    text: str = ""

    @property
    def failed(self) -> bool:
        """True if tvmq did what it must not."""
        return self.kind in FAILURES

    @property
    def signature(self) -> tuple[str, str, str]:
        """Equal for failures of one cause, as far as one can see; for making a failing model smaller."""
        return self.kind, self.stage, self.text.splitlines()[-1][:24] if self.kind == "crash" else ""


class Failed(Exception):
    """Carries the outcome of a failed check."""


class Stage:
    """Stage that a case has reached; `entered` is called with each."""

    def __init__(self, entered: Callable[[str], None]) -> None:
        self.name, self._entered, self.valid = "", entered, True

    def __call__(self, name: str) -> None:
        self.name = name
        self._entered(name)


def run_case(
    model: onnx.ModelProto,
    feeds: Sequence[Feed],
    *,
    builds: bool = True,
    entered: Callable[[str], None] = lambda stage: None,
) -> Outcome:
    """Import, build, quantize, build, run; `builds` False stops before compiling anything.

    entered   called with the name of each stage that begins; "onnxruntime" is one of them
    """
    from tvmq.errors import BuildError, TvmqError

    stage = Stage(entered)
    try:
        return _road(model, feeds, stage, builds)
    except TvmqError as error:
        text = str(error)
        if isinstance(error, BuildError) or len(text) < 15 or "Traceback" in text or "TVMError" in text:
            return Outcome("unclear", stage.name, f"{type(error).__name__}: {text}")
        return Outcome("refused" if stage.valid else "invalid", stage.name, f"{type(error).__name__}: {text}")
    except Failed as error:
        return Outcome(error.args[0], stage.name, error.args[1])
    except Exception:
        return Outcome("crash", stage.name, traceback.format_exc())


def _road(model: onnx.ModelProto, feeds: Sequence[Feed], stage: Stage, builds: bool) -> Outcome:
    import tvmq

    stage("onnxruntime")
    expected = onnxruntime_results(model, feeds)
    stage.valid = expected is not None
    stage("import")
    mod, params = tvmq.from_onnx(model)
    if expected is None:
        return Outcome("invalid", stage.name)
    if not builds:
        stage("quantize")
        with tvmq.qconfig(calibrate_mode="global_scale", bias_correction=False):
            check_ledger(tvmq.quantize(mod, params))
        return Outcome("exact", stage.name)
    stage("build float")
    executable = tvmq.build(mod, params=params)
    stage("run float")
    check_float(model, executable, feeds, expected)
    stage("quantize")
    qmod = tvmq.quantize(mod, params, list(feeds))
    check_ledger(qmod)
    stage("build integer")
    executable = tvmq.build(qmod)
    stage("run integer")
    check_integer(qmod, executable, feeds)
    return Outcome("exact", stage.name)


def check_float(
    model: onnx.ModelProto, executable: Any, feeds: Sequence[Feed], expected: Sequence[Sequence[np.ndarray]]
) -> None:
    outputs = model.graph.output
    declared = {printable_name(v.name): tuple(d.dim_value for d in v.type.tensor_type.shape.dim) for v in outputs}
    if [info.name for info in executable.output_info] != list(declared):
        raise Failed("wrong", f"outputs {[info.name for info in executable.output_info]}, not {list(declared)}")
    for feed, wanted in zip(feeds, expected, strict=True):
        open_values, room = undefined(model, feed), room_of(model, feed, wanted)
        for (name, shape), x, y, r in zip(declared.items(), executable.run(feed), wanted, room, strict=True):
            if x.shape == shape != y.shape and x.size == y.size:
                y = y.reshape(shape)  # onnxruntime counts some axes otherwise than ONNX says
            if x.shape == shape != y.shape and _has_empty(model):
                continue  # and gives other sizes where there is nothing
            if x.shape != y.shape or x.dtype != y.dtype:
                raise Failed("wrong", f"'{name}' is {x.dtype}{x.shape}, not {y.dtype}{y.shape}")
            if name in open_values:
                continue
            x_wide, y_wide = x.astype(np.float64), y.astype(np.float64)
            differs = ~(np.isnan(x_wide) & np.isnan(y_wide))
            differs &= ~np.isclose(x_wide, y_wide, rtol=1e-4, atol=np.reshape(r, y.shape) if np.ndim(r) else r)
            if differs.any() and y.dtype == np.float32:
                spread = rounding_room(model, feed, name, y).reshape(y.shape)
                differs &= ~np.isclose(x_wide, y_wide, rtol=1e-4, atol=np.reshape(r, np.shape(r) and y.shape) + spread)
            if differs.any():
                at = tuple(int(i) for i in np.argwhere(differs)[0])
                raise Failed("wrong", f"'{name}' at {at}: {x[at]!r}, onnxruntime {y[at]!r}")


# They compare or convert numbers. What they make of NaN ONNX leaves open: onnxruntime's pools and maxima pass it on or
# not by its position, and tvmq.graph.evaluate and softmax define their own. A dilated ConvTranspose has a
# kernel with zeros in between, one with strides has zeros for the taps that a place lacks: NaN or infinity times 0 is NaN.
ORDERED = frozenset(
    """
    ArgMax ArgMin Cast Clip ConvTranspose GlobalMaxPool HardSigmoid Hardmax HardSwish LogSoftmax Max MaxPool Min QuantizeLinear
    DynamicQuantizeLinear ReduceMax ReduceMin ReduceLogSumExp Relu Softmax TopK
    """.split()
)


def undefined(model: onnx.ModelProto, feed: Feed) -> set[str]:
    """Tensors that depend on what an operator of ORDERED makes of NaN, or on the mean or extreme of nothing."""
    nodes = model.graph.node
    values = values_of(model, feed)
    floats = {name: value for name, value in values.items() if value.dtype.kind == "f"}
    strange = {name for name, value in floats.items() if np.isnan(value).any()}
    endless = {name for name, value in floats.items() if np.isinf(value).any()}
    found: set[str] = set()
    for node in nodes:
        comes_in = [name for name in node.input if name in strange or name in found]
        if not comes_in and _of_nothing(node, values):
            found.update(node.output)
        elif found.intersection(comes_in) or (comes_in and node.op_type in ORDERED):
            found.update(node.output)
        elif node.op_type == "ConvTranspose" and endless.intersection(node.input):
            found.update(node.output)
        elif node.op_type in ("LogSoftmax", "Softmax"):
            found.update(strange.intersection(node.output))  # infinity less infinity: ours is as of finite numbers
    return found


def _of_nothing(node: onnx.NodeProto, values: Feed) -> bool:
    """True for an operator that makes values of none."""
    sizes = [values[name].size for name in node.input[:1] if name in values]
    return sizes == [0] and any(values[name].size for name in node.output if name in values)


def _has_empty(model: onnx.ModelProto) -> bool:
    graph = onnx.shape_inference.infer_shapes(model).graph
    values = [*graph.input, *graph.value_info, *graph.output]
    return any(d.HasField("dim_value") and not d.dim_value for v in values for d in v.type.tensor_type.shape.dim)


def check_ledger(qmod: Any) -> None:
    """Check that every operator that computes in float is in the ledger as such, with a reason."""
    from tvmq.graph.ledger import get_ledger
    from tvmq.graph.operators import where
    from tvmq.graph.view import View, op_name

    moves = where(kind="move")
    ledger, view = get_ledger(qmod).layers, View(qmod)
    named = [entry for entry in ledger.values() if entry["precision"] == "float" and entry.get("why")]
    known = {name for entry in named for name in entry.get("layers", ())}
    layers = {name for entry in ledger.values() if entry.get("why") for name in entry.get("layers", ())}
    for var, value in view.bindings:
        operator = op_name(value)
        if not operator or operator in CONVERSIONS or str(getattr(var.ty, "dtype", "")) != "float32":
            continue
        entry = ledger.get(var.name, {"precision": "", "why": ""})
        if operator in moves and _maker(view, value) == "tvmq.dynamic_scale":
            continue  # scales at run time in another order
        if (
            operator in BOUNDS
            and _maker(view, value) in (*CONVERSIONS, *BOUNDS)
            and layers.intersection(view.sources(var.name))
        ):
            continue  # the end of an integer layer whose result nobody reads as codes
        if not (entry["precision"] == "float" and entry["why"]) and known.isdisjoint(view.sources(var.name)):
            raise Failed(
                "silent", f"{operator} '{var.name}' {view.sources(var.name)} computes in float, not in the ledger"
            )


def _maker(view: Any, value: Any) -> str:
    """Operator that makes the first argument; "" for an input."""
    from tvmq.graph.view import op_name

    maker = view.value.get(getattr(value.args[0], "name", ""))
    return op_name(maker) or ""


# What may follow the last sums of an integer layer as part of it; scales at run time, and codes to numbers: what
# integer operators begin and end with.
BOUNDS = ("nn.relu", "nn.leakyrelu", "clip", "maximum", "minimum")
CONVERSIONS = ("tvmq.dequantize", "tvmq.dynamic_scale", "tvmq.dynamic_dequantize", "tvmq.table")


def check_integer(qmod: Any, executable: Any, feeds: Sequence[Feed]) -> None:
    from tvmq.reference import Reference
    from tvmq.tools.analysis.verification import unequal_bits

    reference = Reference(qmod)
    for feed in feeds:
        for info, x, y in zip(executable.output_info, executable.run(feed), reference.run(feed), strict=True):
            # which operand a comparison with NaN gives is not part of the definition of floats
            differs = unequal_bits(x, np.asarray(y)) & ~np.isnan(np.asarray(y, np.float64))
            if differs.any() or x.shape != np.asarray(y).shape:
                at = tuple(int(i) for i in np.argwhere(differs)[0]) if differs.any() else ()
                raise Failed("inexact", f"'{info.name}' at {at}: {x[at]!r}, defined {np.asarray(y)[at]!r}")


def smaller(model: onnx.ModelProto, fails: Callable[[onnx.ModelProto], bool]) -> onnx.ModelProto:
    """A part of the model that still fails: one output, the nodes it needs, as few as possible."""
    best = model
    produced = [name for node in model.graph.node for name in node.output if name]
    inferred = onnx.shape_inference.infer_shapes(model)
    types = {value.name: value for value in [*inferred.graph.value_info, *inferred.graph.output, *model.graph.output]}
    for name in produced:
        if name in types:
            part = _cut(model, types[name])
            if len(part.graph.node) < len(best.graph.node) and fails(part):
                return part
    return best


def _cut(model: onnx.ModelProto, output: onnx.ValueInfoProto) -> onnx.ModelProto:
    """The nodes that one tensor needs."""
    needed, nodes = {output.name}, []
    for node in reversed(model.graph.node):
        if needed.intersection(node.output):
            needed.update(node.input)
            nodes.insert(0, node)
    part = onnx.ModelProto()
    part.CopyFrom(model)
    for field, kept in (
        ("node", nodes),
        ("initializer", [array for array in model.graph.initializer if array.name in needed]),
        ("output", [output]),
    ):
        part.graph.ClearField(field)
        getattr(part.graph, field).extend(kept)
    return part
