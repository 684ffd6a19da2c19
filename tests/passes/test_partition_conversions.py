"""The core between its conversions: every binding in one function, nothing computed otherwise."""

from __future__ import annotations

import re

import numpy as np
import onnx
import pytest
import tvm
from tvm import relax

import tvmq
from tests.passes.nets import NETS
from tests.passes.stages import every_stage
from tests.support.models.networks import Net, assert_healthy, at_stage, block, feeds_of, parse
from tests.support.random.graphs import random_model
from tvmq.errors import ConfigError, IntegralError, ModelError
from tvmq.graph.ledger import get_ledger
from tvmq.graph.module_functions import PARTS, function_module, inline_functions, is_partitioned, part_functions
from tvmq.graph.names import input_names
from tvmq.graph.view import View, op_name
from tvmq.passes.integrality import integrality
from tvmq.passes.partition_conversions import partition_conversions
from tvmq.reference import run


def realized(name: str, **options: object) -> tuple[tvm.IRModule, onnx.ModelProto]:
    """A network of NETS in integers, and its model."""
    made, outputs = NETS[name]()
    model = made.model(*outputs)
    return every_stage(*tvmq.from_onnx(model), **options)["fold_constants"], model


def split(mod: tvm.IRModule) -> tvm.IRModule:
    """The realized module in four functions."""
    return partition_conversions(at_stage(mod, "realized"))


def operators(mod: tvm.IRModule, name: str) -> list[str]:
    """Operators of a function, in order."""
    return [op_name(value) for _, value in View(function_module(mod, name)).bindings]


@pytest.mark.slow_cases(
    "output_read_by_shape", "split_channels_rejoined", "concat_of_a_concat_and_its_part", "average_pool",
    "resizes_of_every_rule", "one_pixel", "two_functions_that_share_a_link", "square", "island_of_layer_norm",
    "one_sum_read_twice", "conv_relu", "pad_before_conv", "tiny_weights_big_bias",
)  # fmt: skip
@pytest.mark.thinned(5)
@pytest.mark.parametrize("name", NETS)
def test_the_three_functions_are_main(name: str) -> None:
    """For every corner: healthy, the same bindings, and the same numbers when the functions run one after another."""
    whole, model = realized(name)
    parts = partition_conversions(whole)
    assert_healthy(parts)
    assert {v.name: str(value.op) for v, value in View(parts).bindings if hasattr(value, "op")} == {
        v.name: str(value.op) for v, value in View(whole).bindings if hasattr(value, "op")
    }
    feed = feeds_of(model, 1)[0]
    values = run(parts, feed)
    chained: list[np.ndarray] = list(feed.values())
    for part in PARTS:
        module = function_module(parts, part)
        chained = run(module, dict(zip(input_names(module["main"]).values(), chained, strict=True)))
    for a, b, c in zip(values, chained, run(whole, feed), strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("seed", range(5))
def test_random_graphs(seed: int) -> None:
    """Every binding stands in one of the functions, and nothing else does."""
    whole = every_stage(*tvmq.from_onnx(random_model(seed)))["fold_constants"]
    parts = partition_conversions(whole)
    relax.analysis.well_formed(parts)
    assert {var.name: str(value) for var, value in View(parts).bindings} == {
        var.name: str(value) for var, value in View(whole).bindings
    }


@pytest.mark.slow
def test_a_usual_network_comes_back_as_it_was() -> None:
    whole, _ = realized("residual")
    parts = partition_conversions(whole)
    assert list(part_functions(parts)) == list(PARTS) and is_partitioned(parts) and not is_partitioned(whole)
    main, back = inline_functions(parts)["main"], whole["main"]
    tvm.ir.assert_structural_equal(main.without_attr("tvmq.ledger"), back.without_attr("tvmq.ledger"))
    assert inline_functions(whole) is whole
    again = partition_conversions(parts)
    tvm.ir.assert_structural_equal(again, parts)


def test_conversions_stand_outside() -> None:
    parts = partition_conversions(realized("two_inputs")[0])
    assert set(operators(parts, "quantize_inputs")) == {"tvmq.quantize"}
    assert set(operators(parts, "dequantize_outputs")) <= {"tvmq.dequantize", "nn.relu", "clip"}
    assert "tvmq.quantize" not in operators(parts, "quantized_main")
    assert list(input_names(part_functions(parts)["quantized_main"]).values()) == ["x", "x1"]


S = 'R.const(0.5, "float32"), R.const(3, "int32")'
QUANTIZE = f'R.tvmq.quantize({{}}, {S}, axis=-1, dtype="uint8", qmin=0, qmax=255)'
DEQUANTIZE = f"R.tvmq.dequantize({{}}, {S}, axis=-1)"
X = 'x: R.Tensor((1, 4), "float32")'


def test_an_input_that_is_also_read_as_floats_enters_twice() -> None:
    body = f"q = {QUANTIZE.format('x')}\nm = R.maximum(q, q)\nd = {DEQUANTIZE.format('m')}\ny = R.add(d, x)"
    parts = split(block(X, body))
    assert list(input_names(part_functions(parts)["quantized_main"]).values()) == ["x", "x_1"]
    assert integrality(parts).entry == {"x": "float32", "q": "uint8"}


@pytest.mark.slow
def test_counts_by_type() -> None:
    assert integrality(realized("conv_relu", requantize="fixed_point")[0]).operators.keys() == {"uint8", "int32"}
    found = integrality(realized("conv_relu")[0])
    assert found.operators["float32"] == 1 and [f.op for f in found.floats] == ["tvmq.requantize"]


@pytest.mark.slow
def test_the_error_lists_every_float_operator() -> None:
    """Its name in the source, the operator, why it is float, and what would make it integer."""
    n = Net((1, 6, 8))
    y = n.op("MatMul", "x", n.constant(n.weight(8, 8)))
    ones = n.constant(np.ones(8, np.float32))
    y = n.op("LayerNormalization", y, ones, axis=-1)
    y = n.op("MatMul", y, n.constant(n.weight(8, 8)))
    y = n.op("MatMul", n.op("Erf", y), n.constant(n.weight(8, 4)))
    model = n.model(y)
    mod, params = tvmq.from_onnx(model)
    options = {"calibrate_mode": "minmax", "partition_conversions": "fully_integral"}
    rules = [tvmq.Rule("/matmul_4", None)]
    with tvmq.qconfig(**options, rules=rules), pytest.raises(IntegralError) as caught:
        tvmq.quantize(mod, params, feeds_of(model), guard=None)
    text = str(caught.value)
    assert re.match(
        r"partition_conversions: quantized_main is not fully integral: .*'fully_integral' allows no float:\n", text
    )
    assert (
        "layer '/layernormalization_1': tvmq.layer_norm in float32 (default: its integer form is asked for by integer_layer_norm=True)"
        in text
    )
    assert (
        "(option requantize='float': the sums are scaled by a float32 product); use qconfig(requantize='fixed_point')"
        in text
    )
    assert "layer '/matmul_4'" in text and "take the rule '/matmul_4' out" in text
    with tvmq.qconfig(**{**options, "partition_conversions": "enabled"}, rules=rules):
        enabled = tvmq.quantize(mod, params, feeds_of(model), guard=None)
    assert "not fully integral" in get_ledger(enabled).notes[-1]


@pytest.mark.slow
def test_fully_integral_makes_integers_of_what_would_not_pay() -> None:
    """A sum with an upsampled input at the end stays float, unless the core has to be integral: then 16 bits."""
    n = Net((1, 3, 6, 6))
    up = n.op("Resize", "x", "", n.constant(np.float32([1, 1, 2, 2])), mode="nearest",
              coordinate_transformation_mode="asymmetric", nearest_mode="floor")  # fmt: skip
    y = n.op("DepthToSpace", n.conv("x", 3, 12), blocksize=2)
    model = n.model(n.op("Add", y, up))
    mod, params = tvmq.from_onnx(model)
    found = {}
    for mode in ("enabled", "fully_integral"):
        with tvmq.qconfig(calibrate_mode="minmax", requantize="fixed_point", partition_conversions=mode):
            found[mode] = integrality(tvmq.quantize(mod, params, feeds_of(model), guard=None))
    assert not found["enabled"].is_integral and found["fully_integral"].is_integral
    assert set(found["fully_integral"].exit.values()) == {"int16"}
    assert sorted(found["fully_integral"].entry.values()) == ["int16", "uint8"]


def test_a_module_that_was_not_split() -> None:
    with pytest.raises(ConfigError, match="there is no function 'quantized_main', it has main alone; qconfig"):
        function_module(block(X, "y = R.nn.relu(x)"), "quantized_main")


def module_of_dynamic_size(body: str, result: str) -> tvm.IRModule:
    """A module of a dynamic size n."""
    lines = "".join(f"            {line}\n" for line in body.splitlines())
    return parse(
        "@I.ir_module\nclass Module:\n    @R.function\n"
        f'    def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor({result}, "float32"):\n        n = T.int64()\n'
        f"        with R.dataflow():\n{lines}            R.output(y)\n        return y\n"
    )


def test_sizes_that_are_computed_inside() -> None:
    """The suffix names a size that it is given; where it would have to compute backwards, it is refused."""
    body = f"q = {QUANTIZE.format('x')}\nm = R.reshape(q, R.shape([n * 4]))\n"
    whole = module_of_dynamic_size(f"{body}y = {DEQUANTIZE.format('m')}", '("n * 4",)')
    parts = split(whole)
    relax.analysis.well_formed(parts)
    tvm.ir.assert_structural_equal(tvm.script.from_source(parts.script(show_meta=True)), parts)
    x = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
    np.testing.assert_array_equal(run(parts, [x])[0], run(whole, [x])[0])
    with pytest.raises(ModelError, match="layer 'm': a shape behind it needs the dynamic size 'n', which the shapes at"):
        split(module_of_dynamic_size(f"{body}d = {DEQUANTIZE.format('m')}\ny = R.reshape(d, R.shape([n, 4]))", '("n", 4)'))
