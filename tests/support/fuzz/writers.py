"""Random graphs through every writer and through training: the definition's values, or a sentence that refuses.

    for outcome in run_writers(seed): ...       # never raises

Each seed has its own options: scheme, way to requantize, bits, what has codes, a recurrent layer, a dynamic batch.

Writers   onnx, tensorrt   the checker accepts the file; each layer of it gives the module's codes (tests/support/written_layers.py);
                           imported again and quantized it is the module, to the bit
          exact            to_torch(form="exact"): every integer; float operators but for their roundings in torch
          decomposed       to_torch: each layer gives the module's codes
          training         forward pass: the definition's values
          c, tflite, tosa  the integral core, compiled by gcc, run by LiteRT and by TOSA's reference model
Kinds     equal, refused, or a failure: crash, differs
"""

from __future__ import annotations

import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import tvm
from onnx import TensorProto, helper, numpy_helper

import tvmq
from tests.support.random.graphs import random_inputs, random_model
from tests.support.written_layers import (
    LOOPS,
    Differs,
    check_decomposed,
    check_exact,
    check_floats,
    check_loop,
    check_onnx,
    ends_at_lowest,
    values_of_definition,
)
from tvmq.errors import TvmqError
from tvmq.formats.onnx.exporter.dialects import find_dialect
from tvmq.graph.symbolic import dynamic_dimensions

QUICKLY = {"calibrate_mode": "minmax", "weight_rounding": "nearest", "bias_correction": False,
           "outlier_channels": False}  # fmt: skip
SCHEMES: tuple[dict[str, Any], ...] = ({}, {"scheme": "symmetric", "dtype_input": "int8"})
REQUANTIZE = ("float", "fixed_point", "power_of_two")
BITS: tuple[dict[str, Any], ...] = (
    {}, {"nbit_weight": 4}, {"dtype_input": "int16", "nbit_input": 16}, {"per_channel": False},
)  # fmt: skip
INTEGRAL = {"partition_conversions": "fully_integral", "integer_softmax": True, "integer_layer_norm": True}
STEPS, BATCH, FEATURES, HIDDEN = 4, 2, 5, 6
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


@dataclass(frozen=True)
class Written:
    """Outcome of one writer: see the head of this file."""

    writer: str
    kind: str
    text: str = ""
    values: int = 0

    @property
    def failed(self) -> bool:
        """True for what no writer may do."""
        return self.kind not in ("equal", "refused")


def recurrent_model(seed: int) -> onnx.ModelProto:
    """A recurrent layer with a product after it; directions, states, lengths and biases are drawn from the seed."""
    random = np.random.default_rng(seed)
    kind, direction = str(random.choice(list(GATES))), str(random.choice(["forward", "reverse", "bidirectional"]))
    ways = 2 if direction == "bidirectional" else 1
    gates = GATES[kind] * HIDDEN

    def values(*shape: int) -> np.ndarray:
        return random.normal(0, 0.4, shape).astype(np.float32)

    constants = {"w": values(ways, gates, FEATURES), "r": values(ways, gates, HIDDEN)}
    names = ["x", "w", "r", "", "", "", ""]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [STEPS, BATCH, FEATURES])]
    if random.random() < 0.6:
        constants["b"], names[3] = values(ways, 2 * gates), "b"
    if random.random() < 0.3:
        constants["lengths"], names[4] = np.int32([STEPS, STEPS - 1]), "lengths"
    for place, state in ((5, "h"), (6, "c"))[: 2 if kind == "LSTM" else 1]:
        if random.random() < 0.5:
            names[place] = state
            inputs.append(helper.make_tensor_value_info(state, TensorProto.FLOAT, [ways, BATCH, HIDDEN]))
    while not names[-1]:
        names.pop()
    attributes = {"linear_before_reset": int(random.integers(2))} if kind == "GRU" else {}
    ends = ["y", "y_h", "y_c"][: 3 if kind == "LSTM" else 2]
    constants["axes"], constants["v"] = np.int64([1]), values(HIDDEN, 3)
    nodes = [helper.make_node(kind, names, ends, "loop", hidden_size=HIDDEN, direction=direction, **attributes)]
    nodes.append(helper.make_node("ReduceSum", ["y", "axes"], ["s"], "sum", keepdims=0))
    nodes.append(helper.make_node("MatMul", ["s", "v"], ["z"], "head"))
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("z", *ends[1:])]
    body = helper.make_graph(nodes, f"recurrent_{seed}", inputs, results,
                             [numpy_helper.from_array(array, name) for name, array in constants.items()])  # fmt: skip
    return helper.make_model(body, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def with_batch(model: onnx.ModelProto, size: int | str) -> onnx.ModelProto:
    """The model for another batch, or for any: shapes of results are left to inference."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    axis = int(any(node.op_type in LOOPS for node in model.graph.node))
    for value in copy.graph.input:
        dimension = value.type.tensor_type.shape.dim[axis]
        dimension.CopyFrom(
            onnx.TensorShapeProto.Dimension(**{"dim_param" if isinstance(size, str) else "dim_value": size})
        )
    for value in copy.graph.output:
        value.type.tensor_type.ClearField("shape")
    return copy


def options_of(seed: int) -> dict[str, Any]:
    random = np.random.default_rng([seed, 1])
    options = QUICKLY | SCHEMES[random.integers(len(SCHEMES))] | BITS[random.integers(len(BITS))]
    options["requantize"] = REQUANTIZE[random.integers(3)]
    if options["requantize"] == "power_of_two":
        options |= {"weight_scale": "power2"}
    return options


def run_writers(seed: int, *, integral: bool = True) -> Iterator[Written]:
    """The outcome of each writer for the graph of a seed; nothing where the graph cannot be quantized."""
    source = recurrent_model(seed) if seed % 5 == 4 else random_model(seed)
    data, options = random_inputs(source, 0, 4), options_of(seed)
    if seed % 10 == 9:  # of recurrent layers every other one
        options = QUICKLY | {"activations": [None, "dynamic"][seed // 10 % 2]}
    fixed, feed = source, random_inputs(source, 1, 1)[0]
    dynamic = _quantized(with_batch(source, "batch"), data, options) if seed % 3 == 1 else None
    if dynamic is not None and dynamic_dimensions(
        dynamic
    ):  # the batch is dynamic, another one than in calibration runs; not all graphs have such a form
        source, module = with_batch(source, "batch"), dynamic
        feed = random_inputs(with_batch(source, 3), 1, 1)[0]
    else:
        module = _quantized(source, data, options)
    if module is None:
        return
    wanted = tvmq.reference.run(module, feed)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        roads: dict[str, Callable[[], int]] = {
            "onnx": lambda: _by_onnx(module, feed, wanted, options, place / "a.onnx", "onnxruntime"),
            "tensorrt": lambda: _by_onnx(module, feed, wanted, options, place / "b.onnx", "tensorrt"),
        }
        if find_spec("torch") is not None:
            roads["exact"] = lambda: _by_torch(module, feed, "exact")
            roads["decomposed"] = lambda: _by_torch(module, feed, "decomposed")
            roads["training"] = lambda: _by_training(source, data, feed, options)
        yield from (_outcome(name, road) for name, road in roads.items())
        if integral and "activations" not in options:
            for name, target in (("c", None), ("tflite", "tflite"), ("tosa", "tosa")):
                yield from _integral(name, target, fixed, data, options, place)


def _quantized(source: onnx.ModelProto, data: Any, options: dict[str, Any], target: Any = None) -> Any:
    feeds = data if options.get("activations", "static") == "static" else None
    try:
        with tvmq.qconfig(**options):
            return tvmq.quantize(*tvmq.from_onnx(source), feeds, target=target, guard=None)
    except TvmqError:
        return None


def _outcome(name: str, road: Callable[[], int]) -> Written:
    try:
        return Written(name, "equal", values=road())
    except Differs as error:
        return Written(name, "differs", str(error))
    except TvmqError as error:
        text = str(error)
        return Written(name, "refused" if text and "\n" not in text else "crash", text)
    except Exception:
        return Written(name, "crash", traceback.format_exc())


def _same(found: Any, wanted: Any) -> int:
    """Number of values that were compared; raises Differs where they are not equal."""
    if len(found) != len(wanted):
        raise Differs(f"{len(found)} results for {len(wanted)}")
    for number, (a, b) in enumerate(zip(found, wanted, strict=True)):
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape or a.dtype != b.dtype:
            raise Differs(f"result {number}: {a.dtype}{list(a.shape)} for {b.dtype}{list(b.shape)}")
        wrong = ~((a == b) | ((a != a) & (b != b)))
        if wrong.any():
            raise Differs(
                f"result {number}: {int(wrong.sum())} of {wrong.size} values, first {a[wrong][0]} for {b[wrong][0]}"
            )
    return sum(np.asarray(b).size for b in wanted)


def _by_onnx(module: Any, feed: Any, wanted: Any, options: dict[str, Any], path: Path, dialect: str) -> int:
    """Each layer of the file, then the file imported again: the integers of the module, but of loops, which are floats there."""
    tvmq.to_onnx(module, path, dialect=dialect)
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    names = [[value.name for value in values] for values in (model.graph.input, model.graph.output)]
    assert names[0] == list(feed) and len(names[1]) == len(wanted), names
    count = check_onnx(module, model, find_dialect(dialect), feed)
    back, params = tvmq.from_onnx(model)
    if all(node.op_type != "QuantizeLinear" for node in model.graph.node):  # floats, whose weights may be codes
        for name, a, b in zip(names[1], tvmq.build(back, params=params).run(feed), wanted, strict=True):
            check_floats(name, a, np.asarray(b))
        return count
    with tvmq.qconfig(requantize=options.get("requantize", "float")):
        found = tvmq.reference.run(tvmq.quantize(back, params, guard=None), feed)
    if not find_dialect(dialect).clips_lowest and ends_at_lowest(values_of_definition(module, feed)):
        return count  # what lies below the range has one code more there, and so what follows
    if all(node.op_type not in LOOPS for node in model.graph.node):
        return count + _same(found, wanted)
    for name, a, b in zip(names[1], found, wanted, strict=True):
        check_loop(name, np.asarray(a), np.asarray(b))
    return count


def _by_torch(module: Any, feed: Any, form: str) -> int:
    check = check_exact if form == "exact" else check_decomposed
    return check(tvmq.to_torch(module, form=form), module, feed)


def _by_training(source: onnx.ModelProto, data: Any, feed: Any, options: dict[str, Any]) -> int:
    import torch

    mod, params = tvmq.from_onnx(source)
    with tvmq.qconfig(**options):
        net = tvmq.training.prepare(mod, params, data)
    found = net(*(torch.from_numpy(np.array(value)) for value in feed.values()))
    found = [part.detach().numpy() for part in (found if isinstance(found, list) else [found])]
    return _same(found, tvmq.reference.run(tvmq.training.convert(net), feed))


def _integral(
    name: str, target: str | None, source: Any, data: Any, options: dict[str, Any], place: Path
) -> Iterator[Written]:
    options = options | INTEGRAL
    if options["requantize"] == "float":
        options["requantize"] = "fixed_point"
    if target is not None:
        options = {key: options[key] for key in (*QUICKLY, *INTEGRAL)}
    module = _quantized(source, data, options, target)
    if module is None or "quantized_main" not in {v.name_hint for v in module.get_global_vars()}:
        return
    roads = {"c": _by_c, "tflite": _by_tflite, "tosa": _by_tosa}
    needs = {"c": shutil.which("gcc"), "tflite": find_spec("tflite") and find_spec("ai_edge_litert"),
             "tosa": find_spec("tosa_serializer") and find_spec("tosa_reference_model")}  # fmt: skip
    if needs[name]:
        codes = tvmq.reference.run(module, data[1], function="quantize_inputs")
        wanted = tvmq.reference.run(module, codes, function="quantized_main")
        yield _outcome(name, lambda: roads[name](module, codes, wanted, place))


def _by_c(module: tvm.IRModule, codes: Any, wanted: Any, place: Path) -> int:
    from tests.support.devices.c_harness import Native

    export = tvmq.export_c(module, place / "c", name="net")
    return _same(Native(export, flags=("-O1",))(codes, wanted), wanted)


def _by_tflite(module: tvm.IRModule, codes: Any, wanted: Any, place: Path) -> int:
    from tests.support.devices import tflite_runtimes as runtimes

    export = tvmq.to_tflite(module, place / "net.tflite")
    interpreter = runtimes.litert(export.path.read_bytes())
    found = runtimes.run_litert(
        interpreter, [end.to_file(array) for end, array in zip(export.inputs, codes, strict=True)]
    )
    return _same([end.from_file(array) for end, array in zip(export.outputs, found, strict=True)], wanted)


def _by_tosa(module: tvm.IRModule, codes: Any, wanted: Any, place: Path) -> int:
    import tosa_reference_model

    from tests.support.devices import tflite_runtimes as runtimes

    export = tvmq.to_tosa(module, place / "net.tosa")
    given = [end.to_file(array) for end, array in zip(export.inputs, codes, strict=True)]
    with runtimes.silent():
        found, status = tosa_reference_model.run(export.path.read_bytes(), given)
    if status != tosa_reference_model.GraphStatus.TOSA_VALID:
        raise Differs(f"the reference model says {status}")
    return _same([end.from_file(array) for end, array in zip(export.outputs, found, strict=True)], wanted)
