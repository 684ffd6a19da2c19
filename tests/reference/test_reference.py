"""The reference executor: every operator by its definition, float regions by their compiled form, errors."""

from __future__ import annotations

import numpy as np
import pytest

import tvmq
from tests.graph.op_case import Case
from tests.graph.op_cases import CASES
from tests.passes.stages import calibrated
from tests.support.models.networks import Net, block, feeds_of, run_onnx
from tvmq.errors import DataError
from tvmq.graph.view import View
from tvmq.reference import Reference, is_defined

X = 'x: R.Tensor((2, 3, 4, 4), "float32")'
FEED = {"x": np.random.default_rng(0).standard_normal((2, 3, 4, 4)).astype(np.float32)}


def run(body: str, result: str | None = None, x: np.ndarray = FEED["x"], **constants: np.ndarray) -> np.ndarray:
    signature = f'x: R.Tensor({x.shape}, "{x.dtype}")'
    for name, array in constants.items():
        signature += f', {name}: R.Tensor({array.shape}, "{array.dtype}")'
    mod = block(signature, body, result, **constants)
    (found,) = tvmq.reference.run(mod, {"x": x})
    ty = mod["main"].ret_ty
    assert list(found.shape) == [int(d) for d in ty.shape] and str(found.dtype) == str(ty.dtype)
    return found


@pytest.mark.parametrize("name", CASES)
def test_own_operators_are_the_definition(name: str) -> None:
    from tests.graph.test_ops import module_of

    case: Case = CASES[name]
    mod = module_of(name)
    mod["main"] = mod[name].with_attr("global_symbol", "main")
    (found,) = tvmq.reference.run(mod, list(case.inputs.values()))
    np.testing.assert_array_equal(found, case.expected(*case.inputs.values()))


def test_integer_convolutions_and_products() -> None:
    random = np.random.default_rng(1)
    x, w = random.integers(0, 256, (1, 4, 5, 5), np.uint8), random.integers(-127, 128, (4, 2, 3, 3), np.int8)
    body = 'y = R.nn.conv2d(x, w, strides=(2, 1), padding=(1, 0, 0, 2), dilation=(1, 2), groups=2, out_dtype="int32")'
    found = run(body, '(1, 4, 2, 3), "int32"', x, w=w)
    wide = np.pad(x.astype(np.int64), [(0, 0), (0, 0), (1, 0), (0, 2)])
    expected = np.zeros((1, 4, 2, 3), np.int64)
    for f in range(4):
        for row in range(2):
            for column in range(3):
                part = wide[0, f // 2 * 2 : f // 2 * 2 + 2, 2 * row : 2 * row + 3, column : column + 5 : 2]
                expected[0, f, row, column] = (part * w[f].astype(np.int64)).sum()
    np.testing.assert_array_equal(found, expected)
    a, b = x.reshape(20, 5), w.reshape(18, 4)[:5]
    product = run('y = R.matmul(x, w, out_dtype="int32")', '(20, 4), "int32"', a, w=b)
    np.testing.assert_array_equal(product, a.astype(np.int64) @ b.astype(np.int64))


def pooled(x: np.ndarray) -> np.ndarray:
    """3x3 maxima with stride 2 and padding 1, by loops."""
    wide = np.pad(x.astype(np.float64), [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=-np.inf)
    windows = [[wide[:, :, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3].max((2, 3)) for j in range(2)] for i in range(2)]
    return np.moveaxis(np.array(windows), (0, 1), (2, 3)).astype(x.dtype)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "float32"])
def test_maxima(dtype: str) -> None:
    x = (50 * FEED["x"]).astype(dtype) if dtype != "uint8" else np.abs(50 * FEED["x"]).astype(dtype)
    body = "y = R.nn.max_pool2d(x, pool_size=(3, 3), strides=(2, 2), padding=(1, 1, 1, 1))"
    np.testing.assert_array_equal(run(body, f'(2, 3, 2, 2), "{dtype}"', x), pooled(x))


def test_maxima_of_special_floats() -> None:
    """Infinities, denormals and both zeros have their place in the order."""
    x = np.float32([-np.inf, -1, -1e-45, -0.0, 0.0, 1e-45, 1, np.inf]).reshape(1, 1, 2, 4)
    found = run("y = R.nn.max_pool2d(x, pool_size=(1, 2), strides=(1, 2))", '(1, 1, 2, 2), "float32"', x)
    np.testing.assert_array_equal(found.ravel(), np.float32([-1, -0.0, 1e-45, np.inf]))
    assert np.signbit(run("y = R.nn.max_pool2d(x)", None, x).ravel()[3])


@pytest.mark.parametrize("window", [(2, 2), (3, 2)])
def test_maxima_of_zeros_and_infinities_as_compiled(window: tuple[int, int]) -> None:
    """Between zeros of two signs the last one counts."""
    x = np.random.default_rng(0).choice(np.float32([0.0, -0.0, -np.inf]), (1, 5, 12, 9))
    sizes = ", ".join(map(str, (x.shape[2] // window[0], x.shape[3] // window[1])))
    text = f"y = R.nn.max_pool2d(x, pool_size={window}, strides={window})"
    mod = block('x: R.Tensor((1, 5, 12, 9), "float32")', text, f'(1, 5, {sizes}), "float32"')
    (found,) = tvmq.build(mod).run({"x": x})
    defined = np.asarray(tvmq.reference.run(mod, {"x": x})[0])
    assert np.signbit(defined).any() and not np.signbit(defined).all()
    np.testing.assert_array_equal(found.view(np.int32), defined.view(np.int32))


def test_tuples_and_several_results() -> None:
    mod = block(
        X, "s = R.split(x, 3, axis=1)\na = s[2]\nt = (a, x)\nb = t[0]\ny = R.negative(b)", '(2, 1, 4, 4), "float32"'
    )
    (found,) = tvmq.reference.run(mod, FEED)
    np.testing.assert_array_equal(found, -FEED["x"][:, 2:])


def test_inputs_in_order_or_by_name() -> None:
    mod = block(f'{X}, y: R.Tensor((2, 3, 4, 4), "float32")', "z = R.subtract(x, y)")
    one, two = FEED["x"], FEED["x"] + 1
    for inputs in ([one, two], {"y": two, "x": one}):
        np.testing.assert_array_equal(tvmq.reference.run(mod, inputs)[0], one - two)
    with pytest.raises(DataError, match=r"reference: input 'y' is missing; the module takes \['x', 'y'\]"):
        tvmq.reference.run(mod, {"x": one})


@pytest.mark.parametrize("shape", [(2, 3, 4), (3, 3, 4, 4), (2, 3, 4, 5)])
def test_inputs_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    mod = block(X, "a = R.abs(x)")
    with pytest.raises(
        DataError, match=rf"^reference: input 'x' has shape \({shape[0]}, .*, the model takes \(2, 3, 4, 4\)$"
    ):
        tvmq.reference.run(mod, {"x": np.zeros(shape, np.float32)})


def test_every_value_can_be_watched() -> None:
    seen: dict[str, np.ndarray] = {}
    tvmq.reference.run(block(X, "a = R.abs(x)\nb = R.negative(a)"), FEED, watch=seen.__setitem__)
    assert list(seen) == ["a", "b"]
    np.testing.assert_array_equal(seen["a"], np.abs(FEED["x"]))


def test_undefined_operators_are_islands() -> None:
    """Compiled alone; defined ones around them are not."""
    mod = block(X, "a = R.abs(x)\nb = R.atan(a)\nc = R.nn.relu(b)")
    reference = Reference(mod)
    assert reference.islands == ["b"]
    found = reference.run(FEED)[0]
    np.testing.assert_allclose(found, np.maximum(np.arctan(np.abs(FEED["x"])), 0), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(found, reference.run(FEED)[0])


def test_a_float_convolution_is_an_island_with_its_bias_and_clip() -> None:
    net = Net((1, 3, 6, 6))
    model = net.model(net.op("Relu", net.conv("x", 3, 4)))
    mod, params = tvmq.from_onnx(model)
    from tvmq.passes.prepare import prepare

    reference = Reference(prepare(mod, params))
    seen: list[str] = []
    feed = feeds_of(model, 1)[0]
    (found,) = reference.run(feed, watch=lambda name, _: seen.append(name))
    assert reference.islands == ["relu_1"] and seen == ["relu_1"]
    np.testing.assert_allclose(found, run_onnx(model, feed)[0], rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_islands_may_give_tuples_and_take_several_tensors() -> None:
    signature = f'{X}, g: R.Tensor((3,), "float32")'
    body = "n = R.nn.batch_norm(x, g, g, g, g, axis=1, training=True)\na = n[0]\nb = n[1]\nc = R.reshape(b, R.shape([1, 3, 1, 1]))\ny = R.add(a, c)"
    mod = block(signature, body)
    reference = Reference(mod)
    assert reference.islands == ["n"]
    inputs = {"x": FEED["x"], "g": np.float32([1, 2, 3])}
    expected = tvmq.build(mod).run(inputs)[0]
    np.testing.assert_array_equal(reference.run(inputs)[0], expected)


def test_resizes_that_compute_are_islands() -> None:
    """A nearest resize that repeats pixels is defined; a linear one is not."""
    near = 'y = R.image.resize2d(x, (8, 8), method="nearest_neighbor", coordinate_transformation_mode="asymmetric", rounding_method="floor")'
    result = '(2, 3, 8, 8), "float32"'
    assert Reference(block(X, near, result)).islands == []
    np.testing.assert_array_equal(run(near, result), FEED["x"].repeat(2, 2).repeat(2, 3))
    assert Reference(block(X, near.replace("nearest_neighbor", "linear"), result)).islands == ["y"]
    assert Reference(block(X, near.replace("floor", "ceil"), result)).islands == ["y"]


@pytest.mark.slow
def test_simulated_modules_run_too() -> None:
    """Calibrated and uncalibrated: rounding where there is a scale, nothing where there is none."""
    weight = np.random.default_rng(3).standard_normal((3, 3, 1, 1)).astype(np.float32)
    mod = calibrated(block(f'{X}, w: R.Tensor((3, 3, 1, 1), "float32")', "c = R.nn.conv2d(x, w)", w=weight))
    executable = tvmq.build(mod)
    assert tvmq.verify(executable, [FEED]).exact
    watch = block(
        X, 'y = R.tvmq.simulated_quantize(x, R.const(0.0, "float32"), R.const(0, "int32"), kind="input", tensor="x")'
    )
    np.testing.assert_array_equal(tvmq.reference.run(watch, FEED)[0], FEED["x"])


def test_defined_and_undefined_calls() -> None:
    body = 'a = R.atan(x)\nb = R.abs(a)\nc = R.nn.conv2d(b, w)\nq = R.astype(c, "int8")\nd = R.nn.conv2d(q, w2, out_dtype="int32")'
    signature = f'{X}, w: R.Tensor((3, 3, 1, 1), "float32"), w2: R.Tensor((3, 3, 1, 1), "int8")'
    mod = block(
        signature, body, '(2, 3, 4, 4), "int32"', w=np.ones((3, 3, 1, 1), np.float32), w2=np.ones((3, 3, 1, 1), np.int8)
    )
    found = {var.name: is_defined(value) for var, value in View(mod).bindings}
    assert found == {"a": False, "b": True, "c": False, "q": True, "d": True}
