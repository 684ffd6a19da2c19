"""Every repair of TVM's ONNX converters against onnxruntime, and every refusal."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from frontend_models import check, make_model, normal_floats, run_float, run_onnxruntime
from onnx import helper
from tvm import relax

import tvmq
from tvmq.errors import UnsupportedOpError
from tvmq.formats.onnx.importer.from_onnx import from_onnx
from tvmq.formats.onnx.importer.repairs import REPAIRS, load_repair

floats = normal_floats(0)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def single(
    op_type: str,
    x: np.ndarray,
    *constants: np.ndarray | None,
    opset: int = 18,
    outputs: int = 1,
    dims: Any = None,
    **attributes: Any,
) -> onnx.ModelProto:
    """A model of one node named 'layer' with input x; the other inputs are constants, None is left out."""
    names = ["" if value is None else f"c{i}" for i, value in enumerate(constants)]
    results = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op_type, ["x", *names], results, name="layer", **attributes)
    weights = {name: value for name, value in zip(names, constants, strict=True) if name}
    return make_model([node], {"x": (x.dtype, dims or x.shape)}, results, weights, opset)


def operators(mod: Any) -> list[str]:
    """Short names of the operators of a module, in order."""
    values = [binding.value for binding in mod["main"].body.blocks[0].bindings]
    return [value.op.name.split(".")[-1] for value in values if isinstance(value, relax.Call)]


IMAGE = floats(1, 3, 7, 8)

# name: (model, input, operators expected; None where they do not matter)
CASES: dict[str, tuple[onnx.ModelProto, np.ndarray, list[str] | None]] = {}


def case(
    name: str, op_type: str, x: np.ndarray, *constants: Any, expect: list[str] | None = None, **options: Any
) -> None:
    CASES[name] = (single(op_type, x, *constants, **options), x, expect)


F, I64 = np.float32, np.int64
case("clip-both", "Clip", floats(4, 5) * 5, F(0), F(6), expect=["clip"])
case("clip-low", "Clip", floats(4, 5), F(-0.25), expect=["clip"])
case("clip-high", "Clip", floats(4, 5), None, F(0.5), expect=["clip"])
case("clip-none", "Clip", floats(4, 5), opset=11, expect=["clip"])
case("clip-crossed", "Clip", floats(4, 5), F(0.5), F(-0.25), expect=["clip"])
case("cast-int8", "Cast", floats(4, 5) * 9, to=onnx.TensorProto.INT8, expect=["astype"])
case("cast-like", "CastLike", floats(4, 5) * 9, np.int64(0), opset=19, expect=["astype"])
case("clip-nan", "Clip", floats(4, 5), F(np.nan), F(0.5), expect=["clip"])
case("clip-int8", "Clip", np.arange(-8, 8, dtype=np.int8), np.int8(-3), np.int8(4), expect=["clip"])
case("clip-int64", "Clip", np.arange(-8, 8), None, I64(4), expect=["clip"])
case("pow-int-exponent", "Pow", floats(4, 5), ints(2), expect=["power"])
case("pow-scalar", "Pow", floats(4, 5), np.int32(3), expect=["power"])
case("pow-float", "Pow", np.abs(floats(4, 5)), F(0.5), expect=["power"])
case("dropout", "Dropout", floats(2, 3), F(0.5), opset=13)
for mode in ("SAME_UPPER", "SAME_LOWER", "VALID"):
    for stride in (1, 2, 3):
        options = {"auto_pad": mode, "strides": [stride, stride]}
        weight = floats(4, 3, 3, 4)
        case(f"conv-{mode}-{stride}", "Conv", IMAGE, weight, floats(4), expect=["conv2d", "reshape", "add"], **options)
        pools = {"kernel_shape": [3, 4], **options}
        case(f"max-{mode}-{stride}", "MaxPool", IMAGE, expect=["max_pool2d"], **pools)
        case(f"average-{mode}-{stride}", "AveragePool", IMAGE, expect=["avg_pool2d"], **pools)
case("conv1d-same", "Conv", floats(1, 2, 9), floats(3, 2, 4), auto_pad="SAME_UPPER", strides=[2], expect=["conv1d"])
case("max-ceil", "MaxPool", IMAGE, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1, expect=["max_pool2d"])
case("max-dilated", "MaxPool", IMAGE, kernel_shape=[2, 3], dilations=[2, 2], expect=["max_pool2d"])
for count in (0, 1):
    options = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 0, 1, 1], "count_include_pad": count}
    case(f"average-pads-{count}", "AveragePool", IMAGE, expect=["avg_pool2d"], **options)
    case(f"average-ceil-{count}", "AveragePool", IMAGE, expect=["avg_pool2d"], ceil_mode=1, **options)
for mode in ("NOTSET", "SAME_UPPER", "SAME_LOWER"):
    options = {"auto_pad": mode, "strides": [2, 2], "output_shape": [14, 15]}
    case(f"transpose-{mode}", "ConvTranspose", IMAGE, floats(3, 2, 3, 4), **options)
LARGE = {"strides": [3, 2], "output_shape": [22, 18]}
case("transpose-larger", "ConvTranspose", IMAGE, floats(3, 2, 3, 3), **LARGE)
case("transpose-plain", "ConvTranspose", IMAGE, floats(3, 2, 3, 3), floats(2), strides=[2, 2], output_padding=[1, 0])
EMPTY = np.zeros(0, F)
for mode in ("nearest", "linear", "cubic"):
    for coordinates in ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"):
        options = {"mode": mode, "coordinate_transformation_mode": coordinates, "opset": 13}
        is_by_lists = mode == "nearest" and coordinates == "align_corners"
        kinds = ["take", "take"] if is_by_lists else ["resize2d"]
        case(f"resize-{mode}-{coordinates}", "Resize", IMAGE, EMPTY, F([1, 1, 2, 2]), expect=kinds, **options)
CORNER = {"coordinate_transformation_mode": "align_corners"}  # those of one row meet; linear pictures: test_prepare
case("resize-nearest-corner", "Resize", floats(1, 2, 1, 6), None, None, ints(1, 2, 3, 1), mode="nearest", **CORNER)
for mode in ("nearest", "linear"):
    case(f"resize-{mode}-line", "Resize", floats(1, 2, 6), None, None, ints(1, 2, 1), mode=mode, **CORNER)
case("resize-down", "Resize", floats(1, 2, 8, 6), None, F([1, 1, 0.5, 0.5]), mode="linear", expect=["resize2d"])
case("resize-sizes", "Resize", IMAGE, None, None, ints(1, 3, 10, 5), mode="nearest", expect=["take", "take"])
case("resize-third", "Resize", floats(1, 2, 9, 6), None, F([1, 1, 1 / 3, 1 / 3]), expect=["resize2d"])
for mode, rounding in (("half_pixel", "round_prefer_floor"), ("half_pixel", "floor"), ("asymmetric", "ceil")):
    # places between two pixels, which a product with 2 / 7 in float32 misses
    ratio = {"coordinate_transformation_mode": mode, "nearest_mode": rounding}
    small, sizes = floats(1, 1, 2, 3), ints(1, 1, 7, 9)
    case(f"resize-ratio-{mode}-{rounding}", "Resize", small, None, None, sizes, expect=["take", "take"], **ratio)
case("resize-axes", "Resize", IMAGE, None, None, ints(14, 16), axes=[2, 3], expect=["resize2d"])
case("resize-axes-scales", "Resize", IMAGE, None, F([2, 3]), axes=[-2, -1], expect=["resize2d"])
SYMMETRIC = {"coordinate_transformation_mode": "half_pixel_symmetric", "opset": 19, "mode": "linear"}
case("resize-symmetric", "Resize", IMAGE, None, F([1, 1, 2, 2]), expect=["resize2d"], **SYMMETRIC)
case("resize-1d", "Resize", floats(1, 3, 7), None, F([1, 1, 2]), mode="linear")
case("resize-3d", "Resize", floats(1, 2, 3, 4, 5), None, F([1, 1, 2, 2, 2]), mode="nearest", expect=["resize3d"])
case("softmax-11", "Softmax", floats(2, 5), opset=11, expect=["softmax"])
case("softmax-11-flat", "Softmax", floats(2, 3, 5), opset=11, axis=1, expect=["reshape", "softmax", "reshape"])
case("softmax-13", "Softmax", floats(2, 3, 5), axis=1, expect=["softmax"])
case("gather-scalar", "Gather", IMAGE, I64(-1), axis=2, expect=["strided_slice", "squeeze"])
case("gather-range", "Gather", IMAGE, ints(1, 2), axis=1, expect=["strided_slice"])
case("gather-list", "Gather", IMAGE, ints(3, -2, 0), axis=3, expect=["take"])
case("gather-matrix", "Gather", IMAGE, ints(0, 2, 1, 1).reshape(2, 2), axis=1, expect=["take"])
case("one-hot", "OneHot", ints(0, 3, -1, 7, -9), I64(4), F([0.5, 2]), expect=None)
case("one-hot-axis", "OneHot", ints(0, 3, 1).reshape(1, 3), ints(4), F([0, 1]), axis=0)
case("one-hot-int", "OneHot", ints(0, 3, 1), I64(4), ints(0, 1))
case("pad-constant", "Pad", IMAGE, ints(0, 0, 1, 2, 0, 0, 3, 0), F(1.5), expect=["pad"])
case("pad-axes", "Pad", IMAGE, ints(1, 2), None, ints(-1), opset=18, expect=["pad"])
case("pad-negative", "Pad", IMAGE, ints(0, 0, -1, 2, 0, 0, 1, -2), expect=["strided_slice", "pad"])
case("pad-crop", "Pad", IMAGE, ints(0, 0, -1, 0, 0, 0, 0, -2), expect=["strided_slice"])
case("pad-int64", "Pad", np.arange(6).reshape(2, 3), ints(1, 0, 0, 1), I64(7), expect=["pad"])
for mode in ("reflect", "edge"):
    case(f"pad-{mode}", "Pad", IMAGE, ints(0, 0, 1, 2, 0, 0, 3, 0), mode=mode)
case("pad-wrap", "Pad", IMAGE, ints(0, 0, 1, 2, 0, 0, 3, 0), mode="wrap", opset=19)
case("tile", "Tile", floats(2, 3), ints(2, 3), expect=["reshape", "broadcast_to", "reshape"])
case("tile-new-sizes", "Tile", floats(1, 3), ints(4, 1), expect=["broadcast_to"])
case("tile-four", "Tile", floats(2, 3, 4, 5), ints(7, 6, 4, 2))
case("is-inf", "IsInf", F([-np.inf, 1, np.inf, np.nan]), opset=20)
case("is-inf-positive", "IsInf", F([-np.inf, 1, np.inf, np.nan]), opset=20, detect_negative=0)
case("is-inf-negative", "IsInf", F([-np.inf, 1, np.inf, np.nan]), opset=20, detect_positive=0)
case("is-inf-none", "IsInf", F([-np.inf, 1, np.inf, np.nan]), opset=20, detect_positive=0, detect_negative=0)
case("pow-of-int", "Pow", np.arange(-3, 4), I64(3), expect=["multiply", "multiply"])
case("roi-align", "RoiAlign", IMAGE, F([[0, 0, 5, 5]]), ints(0), output_height=2, output_width=2, opset=16)
case("rms-norm", "RMSNormalization", floats(2, 3, 8), floats(3, 8), axis=1, opset=23)
case("layer-norm-axis", "LayerNormalization", floats(2, 3, 8), floats(3, 8), floats(3, 8), axis=1)
case("layer-norm-whole", "LayerNormalization", floats(3, 8), floats(3, 8), axis=0)
case("expand", "Expand", floats(3, 1), ints(2, 1, 4), expect=["broadcast_to"])
case("expand-same", "Expand", floats(3, 4), ints(1, 4))
case("max-unread-indices", "MaxPool", IMAGE, kernel_shape=[2, 2], outputs=1, expect=["max_pool2d"])
case("layer-norm", "LayerNormalization", floats(2, 3, 8), floats(8), floats(8), expect=["layer_norm"])
case("celu", "Celu", floats(2, 9), alpha=0.7)
case("hard-swish", "HardSwish", floats(2, 9) * 4, expect=["add", "clip", "divide", "multiply"])
case("prelu", "PRelu", IMAGE, floats(3, 1, 1))
case("max-chain", "Max", floats(2, 3), floats(3), floats(2, 1), expect=["maximum", "maximum"])
case("min-chain", "Min", floats(2, 3), floats(3), expect=["minimum"])
case("max-single", "Max", floats(2, 3))
case("split", "Split", floats(2, 7), ints(3, 4), axis=1, outputs=2, expect=["split"])
case("split-even", "Split", floats(2, 6), axis=1, outputs=3, num_outputs=3, expect=["split"])

# Resize that TVM's operators do not compute: axis by axis.
CROP = {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 9.0}
for mode in ("nearest", "linear", "cubic"):
    case(f"resample-scale-{mode}", "Resize", IMAGE, None, F([1, 1, 1.5, 1.7]), mode=mode)
    case(f"resample-shrink-{mode}", "Resize", IMAGE, None, F([1, 1, 0.6, 0.45]), mode=mode)
for mode in ("linear", "cubic"):
    case(f"resample-antialias-{mode}", "Resize", IMAGE, None, F([1, 1, 0.6, 0.3]), mode=mode, antialias=1)
case("resample-exclude", "Resize", IMAGE, None, F([1, 1, 1.3, 0.8]), mode="cubic", exclude_outside=1)
case("resample-channels", "Resize", IMAGE, None, F([1, 2, 1, 2]), expect=["take", "take"])
case("resample-crop", "Resize", IMAGE, F([0, 0, 0.2, 0.1, 1, 1, 1.1, 0.7]), F([1, 1, 2, 2]), mode="linear", **CROP)
case("resample-2d", "Resize", floats(4, 5), None, F([2, 2.5]))
case("resample-3d-axis", "Resize", floats(2, 3, 4, 5, 6), None, None, ints(7), axes=[2], mode="linear")
for policy in ("not_larger", "not_smaller"):
    case(f"resample-{policy}", "Resize", IMAGE, None, None, ints(14, 11), axes=[2, 3], keep_aspect_ratio_policy=policy)

WIDE = F([-90, -20, -10, -5, -1e-4, 0, 1e-4, 0.3, 0.6, 5, 30, 88.6, 100])
for name in ("Softplus", "Mish"):
    case(name.lower(), name, WIDE)
for name in ("Sinh", "Cosh"):
    case(name.lower(), name, WIDE[1:11])
    case(f"{name.lower()}-small", name, WIDE[4:9])
for name in ("Elu", "Celu", "ThresholdedRelu"):
    case(name.lower(), name, WIDE, alpha=1.5)
case("selu", "Selu", WIDE, alpha=1.5, gamma=0.75)
case("sign-double", "Sign", WIDE.astype(np.float64))
case("sign-int8", "Sign", np.int8([-3, 0, 5]), expect=["sign"])
case("prelu-more-axes", "PRelu", floats(3, 4, 5), floats(4, 1), expect=["reshape", "prelu"])
case("gather-elements", "GatherElements", floats(3, 4), ints(1, -1, 0).reshape(3, 1), axis=-1,
     expect=["gather_elements"])  # fmt: skip
case("lp-norm-1", "LpNormalization", F([[1, -2], [0, 0]]), p=1, axis=1, opset=11)
case("lp-norm-2", "LpNormalization", floats(2, 3, 4), p=2, axis=1, opset=11)
case("layer-norm-mean", "LayerNormalization", floats(2, 3, 8), floats(3, 8), outputs=3, axis=1)
case("dropout-mask", "Dropout", IMAGE, outputs=2, opset=13)
case("sign-unsigned", "Sign", np.array([0, 1, 7, 255], np.uint8))
case(
    "shift-left", "BitShift", np.array([1, 2, 3, 4], np.uint32), np.array([1, 31, 32, 40], np.uint32), direction="LEFT"
)
case("unsqueeze-scalar", "Unsqueeze", floats(2, 3), I64(1), expect=["expand_dims"])
case("top-k-int8", "TopK", np.array([3, -9, 5, 5], np.int8), ints(3), outputs=2, expect=None)
for mode in ("reflect", "edge", "wrap"):
    case(
        f"pad-{mode}", "Pad", IMAGE, ints(0, 0, 2, -1, 0, 0, 1, 3), mode=mode, expect=["strided_slice", "take", "take"]
    )


@pytest.mark.slow_cases(
    "average-SAME_UPPER-1", "conv-SAME_LOWER-2", "resize-cubic-half_pixel", "resample-shrink-linear",
    "max-SAME_UPPER-3", "average-SAME_LOWER-3", "average-pads-1", "tile-four", "lp-norm-1", "conv1d-same",
    "resize-nearest-pytorch_half_pixel", "gather-list", "pad-constant", "pad-reflect",
)  # fmt: skip
@pytest.mark.thinned(6)
@pytest.mark.parametrize("name", CASES)
def test_equals_onnxruntime(name: str) -> None:
    model, x, expected = CASES[name]
    mod = check(model, {"x": x})
    if expected is not None:
        assert operators(mod) == expected


SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.5, 0, 0.5], F)


@pytest.mark.parametrize("operator", ["Elu", "Selu", "Celu", "Sign", "ThresholdedRelu"])
def test_nan_and_infinities(operator: str) -> None:
    """NaN stays NaN (but where the operator is a comparison), infinities are no NaN."""
    model = single(operator, SPECIAL)
    mod, params = from_onnx(model)
    (result,), (expected,) = run_float(mod, params, {"x": SPECIAL}), run_onnxruntime(model, {"x": SPECIAL})
    np.testing.assert_allclose(result, expected, rtol=1e-6)
    assert np.isnan(result[0]) == (operator != "ThresholdedRelu")


def test_slopes_of_more_axes_than_the_tensor() -> None:
    """ONNX gives the result the shape of the tensor; onnxruntime adds an axis."""
    x = floats(2, 3)
    mod, params = from_onnx(single("PRelu", x, floats(1, 1, 1)))
    assert run_float(mod, params, {"x": x})[0].shape == (2, 3)


REFUSED: dict[str, tuple[onnx.ModelProto, str]] = {}


def refuse(name: str, words: str, op_type: str, x: np.ndarray, *constants: Any, **options: Any) -> None:
    REFUSED[name] = (single(op_type, x, *constants, **options), words)


refuse("arg-max-of-nothing", "axis 1 is empty", "ArgMax", np.zeros((2, 0), np.float32), axis=-1)
refuse("max-indices", "Indices", "MaxPool", IMAGE, kernel_shape=[2, 2], outputs=2)
refuse(
    "lp-pool-symbolic", "ceil_mode needs fixed height and width", "LpPool", IMAGE, kernel_shape=[2, 2], ceil_mode=1,
    dims=[1, 3, "h", "w"],
)  # fmt: skip

refuse("transpose-symbolic", "shape=", "ConvTranspose", IMAGE, floats(3, 2, 3, 3), output_shape=[14, 15],
       dims=[1, 3, "h", "w"])  # fmt: skip
refuse("roi-align-max", "use mode avg", "RoiAlign", IMAGE, F([[0, 0, 5, 5]]), ints(0), mode="max", opset=16)
refuse("pow-of-int", "power of integers", "Pow", np.arange(4), I64(7))
refuse("dropout-training", "evaluation mode", "Dropout", IMAGE, F(0.5), np.bool_(True), opset=13)
refuse("batch-norm-training", "evaluation mode", "BatchNormalization", IMAGE, floats(3), floats(3), floats(3),
       np.abs(floats(3)), training_mode=1)  # fmt: skip
refuse("gather-outside", "outside of 0..2", "Gather", IMAGE, ints(5), axis=1)
refuse("prelu-larger", "larger than its input", "PRelu", floats(2, 3), floats(4, 2, 3))
refuse("prelu-as-many-axes", "larger than its input", "PRelu", floats(1, 1, 1), floats(1, 2, 1))
refuse("prelu-larger-inside", "larger than its input", "PRelu", floats(1, 3), floats(1, 2, 3))
refuse("gather-elements-outside", "outside of -4..3", "GatherElements", floats(3, 4), ints(4).reshape(1, 1), axis=1)
refuse("unknown", "not supported", "DeformConv", IMAGE, floats(1, 3, 1, 1), floats(1, 2, 7, 8), opset=19)
refuse("values", "depends on values", "NonZero", floats(3, 4))


@pytest.mark.parametrize("name", REFUSED)
def test_refusal_names_layer_operator_and_way_out(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    model, words = REFUSED[name]
    with pytest.raises(UnsupportedOpError) as caught:
        from_onnx(model)
    message = str(caught.value)
    assert "layer 'layer'" in message and words in message and ";" in message
    assert model.graph.node[0].op_type in message
    assert "\n" not in message
    assert capfd.readouterr() == ("", "")


def test_empty_parts() -> None:
    split = helper.make_node("Split", ["x", "sizes"], ["a", "b"], name="split", axis=1)
    join = helper.make_node("Concat", ["b", "a", "b"], ["y"], name="join", axis=1)
    x = floats(2, 7)
    model = make_model([split, join], {"x": ("float32", (2, 7))}, ["y", "b"], {"sizes": ints(7, 0)})
    mod, params = from_onnx(model)
    y, b = tvmq.build(mod, params=params).run({"x": x})
    np.testing.assert_array_equal(y, x)
    assert b.shape == (2, 0) and b.dtype == np.float32


def test_every_repair_loads() -> None:
    for op_type in REPAIRS:
        assert callable(load_repair(op_type))
    assert load_repair("Relu") is None


@pytest.mark.parametrize("pads, p", [([0, 0, 0, 0], 2), ([1, 0, 0, 2], 1), ([1, 1, 0, 1], 3)])
def test_lp_pool_of_ceil_mode_has_zeros_under_its_last_windows(pads: list[int], p: int) -> None:
    """Counted by NumPy; ONNX's reference divides by what a window holds."""
    x = np.random.default_rng(p).standard_normal((2, 3, 7, 6)).astype(np.float32)
    options = {"kernel_shape": [2, 3], "strides": [3, 2], "pads": pads, "ceil_mode": 1, "p": p}
    mod, params = from_onnx(
        make_model([helper.make_node("LpPool", ["x"], ["y"], **options)], {"x": ("float32", x.shape)}, ["y"])
    )
    result = run_float(mod, params, {"x": x})[0]
    wide = np.pad(np.abs(x.astype(np.float64)) ** p, [(0, 0), (0, 0), (pads[0], 9), (pads[1], 9)])
    windows = np.lib.stride_tricks.sliding_window_view(wide, (2, 3), (2, 3))[:, :, ::3, ::2].sum((-2, -1))
    rows, columns = -(-(7 + pads[0] + pads[2] - 2) // 3) + 1, -(-(6 + pads[1] + pads[3] - 3) // 2) + 1
    rows -= (rows - 1) * 3 >= 7 + pads[0]
    columns -= (columns - 1) * 2 >= 6 + pads[1]
    np.testing.assert_allclose(result, windows[:, :, :rows, :columns] ** (1 / p), rtol=1e-5, atol=1e-5)
