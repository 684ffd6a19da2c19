"""to_torch: a module of quantized_decomposed operators, exported, loaded elsewhere, and back by from_torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmq
from tests.formats.onnx.exporter.test_dialects import SYMMETRIC, plain, quantized, residual
from tests.support.models.networks import Net, feeds_of
from tests.support.random.graphs import random_inputs, random_model
from tvmq import numerics
from tvmq.errors import ConfigError, StageError, UnsupportedOpError
from tvmq.numerics.requantize_rule import MODES, ROUNDINGS

torch = pytest.importorskip("torch")
FRESH = """
import sys, numpy, torch
import torch.ao.quantization.fx._decomposed
program = torch.export.load(sys.argv[1])
x = torch.from_numpy(numpy.load(sys.argv[2]))
numpy.save(sys.argv[3], program.module()(x).numpy())
assert "tvmq" not in sys.modules and "tvm" not in sys.modules
"""


def results(module: Any, feed: dict[str, np.ndarray]) -> list[np.ndarray]:
    with torch.no_grad():
        found = module(*(torch.from_numpy(value) for value in feed.values()))
    return [part.numpy() for part in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.slow
def test_digits(digits: Any, tmp_path: Path) -> None:
    """The embedded network: exported, loaded in a fresh process without tvmq, and imported again: the same integers."""
    net = tvmq.to_torch(digits.quantized)
    x = digits.example.test[:1]
    ours = digits.exe.run({"image": x})[0]
    (theirs,) = results(net, {"image": x})
    np.testing.assert_allclose(ours, theirs, atol=0.05 * np.abs(ours).max())
    assert ours.argmax() == theirs.argmax()
    program = torch.export.export(net, (torch.from_numpy(x),))
    targets = {str(node.target) for node in program.graph.nodes}
    assert {
        "quantized_decomposed.quantize_per_tensor.default", "quantized_decomposed.dequantize_per_tensor.default",
        "quantized_decomposed.dequantize_per_channel.default",
    } <= targets  # fmt: skip
    again = tvmq.quantize(*tvmq.from_torch(net, (torch.from_numpy(x),)))
    np.testing.assert_array_equal(tvmq.reference.run(again, [x])[0], tvmq.reference.run(digits.quantized, [x])[0])


@pytest.mark.slow
def test_a_fresh_process_needs_torch_alone(digits: Any, tmp_path: Path) -> None:
    net, x = tvmq.to_torch(digits.quantized), digits.example.test[:1]
    torch.export.save(torch.export.export(net, (torch.from_numpy(x),)), tmp_path / "net.pt2")
    np.save(tmp_path / "x.npy", x)
    arguments = [str(tmp_path / name) for name in ("net.pt2", "x.npy", "y.npy")]
    subprocess.run([sys.executable, "-c", FRESH, *arguments], check=True, cwd=tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), results(net, {"image": x})[0])


def test_inputs_keep_their_names() -> None:
    net = tvmq.to_torch(plain())
    assert [node.name for node in net.graph.nodes if node.op == "placeholder"] == ["x"]
    assert not net.training and not list(net.parameters())


@pytest.mark.slow_cases("options0")
@pytest.mark.thinned(2)
@pytest.mark.parametrize("options", [{}, SYMMETRIC, {"nbit_weight": 4}, {"dtype_input": "int16", "nbit_input": 12}])
def test_kinds_of_codes(options: dict[str, Any]) -> None:
    source = residual()
    module = quantized(source, **options)
    net = tvmq.to_torch(module)
    for feed in feeds_of(source)[:2]:
        (ours,), (theirs,) = tvmq.reference.run(module, feed), results(net, feed)
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=0.02 * np.abs(ours).max())


@pytest.mark.thinned(12)
@pytest.mark.parametrize("seed", [2, 3, 4, 5, 9, 11, 18, 40, 44, 49, 59])
@pytest.mark.slow
def test_random_graphs(seed: int) -> None:
    """Shapes and types of the integers, whatever is in the graph; torch.export takes it, and it comes back the same."""
    source = random_model(seed)
    module = tvmq.quantize(*tvmq.from_onnx(source), random_inputs(source, 0, 8), guard=None)
    net, feed = tvmq.to_torch(module), random_inputs(source, 1, 1)[0]
    for mine, theirs in zip(tvmq.reference.run(module, feed), results(net, feed), strict=True):
        assert mine.shape == theirs.shape and mine.dtype == theirs.dtype
    again = tvmq.quantize(*tvmq.from_torch(net, tuple(torch.from_numpy(value) for value in feed.values())))
    back = tvmq.reference.run(again, list(feed.values()))
    for mine, theirs in zip(tvmq.reference.run(module, feed), back, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_a_trained_network() -> None:
    """The exported network has the parameters of the trained one as they are now."""
    source = residual()
    mod, params = tvmq.from_onnx(source)
    trained = tvmq.training.prepare(mod, params, feeds_of(source), config=tvmq.QConfig(calibrate_mode="minmax"))
    with torch.no_grad():
        for parameter in trained.parameters():
            if parameter.ndim > 1:
                parameter.mul_(1.1)
    feed = feeds_of(source)[0]
    (ours,), (theirs,) = results(trained, feed), results(tvmq.to_torch(trained), feed)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=0.02 * np.abs(ours).max())


@pytest.mark.slow_cases("options2-fixed_point")
@pytest.mark.thinned(4)
@pytest.mark.parametrize("mode", ["float", "fixed_point", "power_of_two"])
@pytest.mark.parametrize("options", [{}, SYMMETRIC, {"nbit_weight": 4}, {"dtype_input": "int16", "nbit_input": 12}])
def test_the_exact_form(options: dict[str, Any], mode: str) -> None:
    """Bits of both forms are equal."""
    source = residual()
    module = quantized(source, requantize=mode, rounding="TONEAREST" if mode == "fixed_point" else "UPWARD", **options)
    net = tvmq.to_torch(module, form="exact")
    for feed in feeds_of(source)[:2]:
        np.testing.assert_array_equal(results(net, feed)[0], tvmq.reference.run(module, feed)[0])


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("mode", MODES)
def test_the_exact_form_of_a_requantize(mode: str, rounding: str) -> None:
    """Sums on and beside ties are rounded as the definition says."""
    from tvmq.formats.torch.exporter.integer_operators import run_exact

    sums = np.random.default_rng(0).integers(-(2**20), 2**20, (5, 20000)).astype(np.int32)
    multiplier, shift = numerics.requantize_constants(2.0 ** np.float64([-13, -10, -9, -3, 1]), mode)
    named = {"zero_point": 3, "axis": 0, "mode": mode, "rounding": rounding, "dtype": "int8", "qmin": -128, "qmax": 127}
    operands = (torch.from_numpy(value) for value in (sums, multiplier, shift))
    codes = run_exact("tvmq.requantize", {**named, "negative_slope": 1.0}, *operands)
    np.testing.assert_array_equal(codes.numpy(), numerics.requantize(sums, multiplier, shift, **named))


@pytest.mark.slow
def test_the_exact_form_of_digits(digits: Any) -> None:
    """And of the program that is exported of it."""
    x = digits.example.test[:1]
    net = tvmq.to_torch(digits.quantized, form="exact")
    (expected,) = digits.exe.run({"image": x})
    np.testing.assert_array_equal(results(net, {"image": x})[0], expected)
    program = torch.export.export(net, (torch.from_numpy(x),))
    assert not any("quantized_decomposed" in str(node.target) for node in program.graph.nodes)
    np.testing.assert_array_equal(results(program.module(), {"image": x})[0], expected)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 4, 5, 9, 11, 18, 40, 44, 49, 59, 60, 61, 62, 63, 64])
def test_the_exact_form_of_random_graphs(seed: int) -> None:
    """Codes are equal; floats of torch's own operators in their last bits."""
    source = random_model(seed)
    module = tvmq.quantize(*tvmq.from_onnx(source), random_inputs(source, 0, 8), guard=None)
    feed = random_inputs(source, 1, 1)[0]
    found = results(tvmq.to_torch(module, form="exact"), feed)
    for mine, theirs in zip(tvmq.reference.run(module, feed), found, strict=True):
        assert mine.dtype == theirs.dtype
        if mine.dtype.kind == "f":
            np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)
        else:
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.slow_cases("options0")
@pytest.mark.parametrize("options", [{}, {"nbit_weight": 4}, {"nbit_weight": 4, "group_size": 4}])
def test_weights_alone(options: dict[str, Any]) -> None:
    """Codes stay codes: of a convolution, of a product, and in groups."""
    net = Net((1, 4, 4, 4))
    rows = net.op("Reshape", net.op("Relu", net.conv("x", 4, 4)), net.constant(np.int64([1, 4, 16])))
    source = net.model(net.op("MatMul", rows, net.constant(net.random.normal(size=(16, 8)).astype(np.float32))))
    mod, params = tvmq.from_onnx(source)
    module = tvmq.quantize(mod, params, config=tvmq.QConfig(activations=None, **options))
    made, feed = tvmq.to_torch(module), feeds_of(source)[0]
    np.testing.assert_allclose(results(made, feed)[0], tvmq.reference.run(module, feed)[0], rtol=1e-4, atol=1e-5)
    assert {value.dtype for name, value in made.named_buffers() if name.endswith("quantized")} == {torch.int8}
    names = {str(node.target) for node in made.graph.nodes}
    assert ("quantized_decomposed.dequantize_per_channel_group.default" in names) == ("group_size" in options)


def test_forms_that_are_not_there() -> None:
    with pytest.raises(ConfigError, match="^to_torch: form must be one of decomposed, exact. Got 'int8' instead$"):
        tvmq.to_torch(plain(), form="int8")
    dynamic = tvmq.quantize(*tvmq.from_onnx(words()), config=tvmq.QConfig(activations="dynamic"))
    with pytest.raises(
        UnsupportedOpError, match="^to_torch, layer '.*': tvmq.dynamic_scale has no exact equivalent in torch"
    ):
        tvmq.to_torch(dynamic, form="exact")


def words() -> Any:
    net = Net((1, 3, 6, 6))
    return net.model(net.conv("x", 3, 4))


def test_what_is_no_module() -> None:
    with pytest.raises(
        ConfigError, match=r"^to_torch: model must be a module that tvmq.quantize returned or a network of .* Got str"
    ):
        tvmq.to_torch("model.onnx")
    with pytest.raises(StageError, match="^to_torch: the module is 'imported'; export the module that tvmq.quantize returns$"):
        tvmq.to_torch(tvmq.from_onnx(residual())[0])


def test_operators_without_a_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(tvmq_functions(), "Conv")
    with pytest.raises(
        UnsupportedOpError, match=r"^to_torch, layer '.*': Conv has no equivalent in torch; keep the module"
    ):
        tvmq.to_torch(plain())


def tvmq_functions() -> dict[str, Any]:
    from tvmq.formats.torch.exporter.onnx_operators import FUNCTIONS

    return FUNCTIONS


def test_resizing_that_torch_has_not() -> None:
    net = Net((1, 3, 4, 4))
    sizes = net.constant(np.int64([1, 4, 8, 8]))
    y = net.op("Resize", net.conv("x", 3, 4), "", "", sizes, mode="nearest", nearest_mode="ceil")
    with pytest.raises(
        UnsupportedOpError, match="^to_torch: resizing by nearest, half_pixel is not what torch computes"
    ):
        results(tvmq.to_torch(quantized(net.model(y))), feeds_of(net.model(y))[0])
