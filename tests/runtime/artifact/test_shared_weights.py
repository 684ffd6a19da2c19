"""Weights stored once in a file: packed in the code, or plain where packing enlarges them; both can be loaded."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import tvm

import tvmq
from tests.support.models.networks import Net, feeds_of
from tests.support.models.saved_files import edited, refused
from tvmq.codegen.kernels.depthwise.plan import DepthwisePacking, DepthwiseShape
from tvmq.codegen.kernels.depthwise.weights import pack_by_recipe as pack_depthwise
from tvmq.codegen.kernels.isa import LEVELS, isa_named, level
from tvmq.codegen.kernels.parts.float_vectors import float_vectors
from tvmq.codegen.kernels.parts.kernel_types import Conv2d
from tvmq.codegen.kernels.parts.packing import Packing
from tvmq.codegen.kernels.parts.packing_recipes import gives, repack_weights, restore_weights
from tvmq.codegen.kernels.parts.weight_order import order_by_recipe
from tvmq.codegen.kernels.winograd.weights import pack_by_recipe
from tvmq.runtime.artifact.code_bytes import BYTECODE, CONSTANTS
from tvmq.runtime.artifact.container import MANIFEST

TARGETS = [
    "llvm -mcpu=nehalem", pytest.param("llvm -mcpu=haswell", marks=pytest.mark.isa("avx2")),
    "llvm",
]  # fmt: skip


@pytest.fixture(scope="module")
def module() -> tuple[tvm.IRModule, dict[str, np.ndarray]]:
    """Winograd's and other convolutions, a dense layer; and an input."""
    net = Net((1, 32, 16, 16))
    y = net.op("Relu", net.conv("x", 32, 32))
    y = net.op("Relu", net.conv(net.op("Relu", net.conv(y, 32, 48, 1)), 48, 48, groups=48))
    model = net.model(net.dense(net.op("Flatten", net.op("GlobalAveragePool", y)), 48, 10))
    feeds = feeds_of(model)
    with tvmq.qconfig(calibrate_mode="minmax", weight_rounding="nearest"):
        return tvmq.quantize(*tvmq.from_onnx(model), feeds, guard=None), feeds[0]


@pytest.fixture(scope="module", params=TARGETS)
def saved(request: pytest.FixtureRequest, module: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The executable and its file."""
    exe, path = tvmq.build(module[0], request.param), tmp_path_factory.mktemp("saved") / "m.tvmq"
    exe.save(path)
    return exe, path


@pytest.mark.thinned(3)
@pytest.mark.slow_cases("*nehalem")
def test_each_weight_is_there_once_and_the_module_is_as_it_was(module: Any, saved: Any) -> None:
    exe, path = saved
    loaded = tvmq.load(path)
    tvm.ir.assert_structural_equal(loaded.module, exe.module)
    for a, b in zip(loaded.run(module[1]), exe.run(module[1]), strict=True):
        np.testing.assert_array_equal(a, b)
    with zipfile.ZipFile(path) as archive:
        sizes = {info.filename: info.file_size for info in archive.infolist()}
        manifest = json.loads(archive.read(MANIFEST))
    weights = 32 * 32 * 9 + 32 * 48 + 48 * 9 + 48 * 10
    channels = 4 * 4 * (32 + 48 + 48 + 16)  # biases and multipliers of the code, and of the module
    assert sizes[BYTECODE] + sizes[CONSTANTS] < 1.6 * weights + 2 * channels + 4000
    assert manifest["schema"] == 5


@pytest.mark.slow
def test_a_loaded_file_is_saved_with_the_same_bytes(saved: Any, tmp_path: Path) -> None:
    tvmq.load(saved[1]).save(tmp_path / "again.tvmq")
    assert (tmp_path / "again.tvmq").read_bytes() == saved[1].read_bytes()


@pytest.mark.slow
def test_winograd_is_in_the_file_as_plain_weights(module: Any, tmp_path: Path) -> None:
    exe = tvmq.build(module[0])
    exe.save(tmp_path / "m.tvmq")
    with zipfile.ZipFile(tmp_path / "m.tvmq") as archive:
        manifest = json.loads(archive.read(MANIFEST))
    uses = any("winograd" in name for name in manifest["kernels"].values())
    if not uses:
        pytest.skip("this CPU has no kernels of Winograd's algorithm")
    made = [recipe for *_, recipe in manifest["joined"]["cuts"] if "g" in recipe]
    assert len(made) == 1 and manifest["joined"]["size"] > 36 * 2 * 32 * 32


@pytest.mark.slow_cases(
    "llvm -mcpu=haswell-joined-*", "llvm -mcpu=nehalem-joined-*", "llvm -mcpu=haswell-joined.s*", "llvm-joined-*",
    "llvm -mcpu=nehalem-joined.s*", "llvm -mcpu=haswell-joined.cuts-value2*",
)  # fmt: skip
@pytest.mark.parametrize("key, value, message", [
    ("joined", 3, "'joined' of the manifest cannot be 3; save the model again"),
    ("joined.size", -1, "'joined.size' of the manifest cannot be -1"),
    ("joined.cuts", [[0, CONSTANTS, 0, 10**9]], "there are no bytes 0 to 1000000000"),
    ("joined.cuts", [[0, CONSTANTS, 0, 4, {"slots": [[0]]}]], "damaged"),
    ("joined.cuts", [[0, CONSTANTS, 0, 4, {"g": [[1, 0, 0]], "shape": [1, 0], "slots": [[0]], "parts": [[1, 1]]}]],
     "sizes below 1"),
    ("joined.cuts", [[0, CONSTANTS, 0, 4, {"variants": [[0]], "shape": [0, 1, 1, 1], "dtype": "int8", "blocks": []}]],
     "sizes below 1"),
    ("joined.cuts", [[0, "absent", 0, 4]], "damaged"), ("schema", 3, "'joined' of the manifest"),
])  # fmt: skip
def test_damaged_manifests(saved: Any, tmp_path: Path, key: str, value: Any, message: str) -> None:
    broken = tmp_path / "broken.tvmq"
    broken.write_bytes(edited(saved[1].read_bytes(), key, value))
    assert message in refused(broken)


@pytest.mark.parametrize("name", LEVELS)
@pytest.mark.parametrize(
    "shape, groups, run", [((20, 12, 3, 3), 1, 36), ((24, 5, 1, 1), 2, 5), ((7, 300, 1, 1), 1, 300)]
)
def test_weights_come_back_from_every_way_of_packing(name: str, shape: tuple, groups: int, run: int) -> None:
    ins = level(name)
    vectors = -(-(shape[0] // groups) // ins.lanes)
    packing = Packing(ins, shape, groups, run, ((vectors, 1),), True)
    weight = np.random.default_rng(3).integers(-127, 128, shape).astype(np.int8)
    recipe = {"level": name, "taps": ins.taps, "shape": list(shape), "groups": groups, "run": run,
              "parts": [[vectors, 1]], "permuted": True}  # fmt: skip
    packed = packing.weights(weight).tobytes()
    assert repack_weights(weight.tobytes(), recipe, len(packed)) == packed
    if len(packed) == np.dtype(np.int8).itemsize * packing.size and ins.w_dtype == "int8":
        assert restore_weights(packed, recipe) == weight.tobytes()
    turned = np.ascontiguousarray(weight.reshape(shape[0], -1).T).tobytes()
    assert gives(turned, {**recipe, "turned": True}, packed) and not gives(turned[1:], recipe, packed)


def float_layers() -> tuple[onnx.ModelProto, int]:
    """Convolutions, grouped, depthwise, transposed, of lines and volumes, products, a table, an LSTM; and the bytes of
    their weights."""
    net = Net((1, 32, 12, 12), (1, 16), (5, 1, 32))
    y = net.op("Relu", net.conv(net.op("Relu", net.conv("x", 32, 64)), 64, 130, 1))
    y = net.op("Relu", net.conv(net.op("Relu", net.conv(y, 130, 130, 5, groups=130)), 130, 96, groups=2))
    line = net.op("Reshape", y, net.constant(np.int64([1, 96, 144])))
    line = net.op("Conv", line, net.constant(net.weight(48, 96, 3)))
    head = net.dense(net.op("Flatten", net.op("GlobalAveragePool", line)), 48, 100)
    rows = net.op("Gather", net.constant(net.weight(300, 64)), net.op("Cast", "x1", to=onnx.TensorProto.INT64))
    wide = net.op("ConvTranspose", "x", net.constant(net.weight(32, 40, 4, 4)), strides=[2, 2], group=2)
    volume = net.op("Reshape", "x", net.constant(np.int64([1, 8, 4, 12, 12])))
    volume = net.op("Conv", volume, net.constant(net.weight(48, 8, 3, 3, 3)))
    few = net.conv("x", 32, 2, 5)  # which packing makes eight times as large
    gates = [net.constant(net.weight(1, 256, size)) for size in (32, 64)]
    states = net.ops("LSTM", "x2", *gates, outputs=1, hidden_size=64)
    model = net.model(head, net.op("MatMul", rows, net.constant(net.weight(64, 80))), *states, wide, volume, few)
    return model, sum(len(constant.raw_data) for constant in model.graph.initializer)


@pytest.mark.slow_cases("*haswell", "*nehalem")
@pytest.mark.parametrize("target", TARGETS)
def test_a_float_model_has_each_weight_once(target: str, tmp_path: Path) -> None:
    model, weights = float_layers()
    mod, params = tvmq.from_onnx(model)
    path, exe = tmp_path / "m.tvmq", tvmq.build(mod, target, params=params)
    exe.save(path)
    assert path.stat().st_size < 1.1 * weights + 35_000
    loaded = tvmq.load(path)
    for one in (loaded, tvmq.load(path, code=False)):
        tvm.ir.assert_structural_equal(one.module, exe.module)
    feed = feeds_of(model)[0] | {"x1": np.arange(16, dtype=np.float32)[None]}
    for a, b in zip(loaded.run(feed), exe.run(feed), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", LEVELS)
@pytest.mark.parametrize(
    "shape, groups, run", [((20, 12, 3, 3), 1, 36), ((24, 5, 1, 1), 2, 5), ((7, 300, 1, 1), 1, 300)]
)
def test_float_weights_come_back_bit_by_bit(name: str, shape: tuple, groups: int, run: int) -> None:
    vectors = float_vectors(isa_named(name))
    count = -(-(shape[0] // groups) // vectors.lanes)
    packing = Packing(vectors, shape, groups, run, ((count, 1),), False)
    weight = np.random.default_rng(3).integers(0, 2**32, shape, dtype=np.uint32).view(np.float32)  # NaN, -0.0 and all
    packed = packing.weights(weight).tobytes()
    assert restore_weights(packed, packing.recipe()) == weight.tobytes()
    turned = np.ascontiguousarray(weight.reshape(shape[0], -1).T).tobytes()
    assert restore_weights(packed, {**packing.recipe(), "turned": True}) == turned


@pytest.mark.parametrize(
    "moves", [{"shape": [3, 3]}, {"flip": [2]}, {"axes": [0, 0]}, {"axes": [1]}, {"shape": [2, 4, 1]}]
)
def test_moves_that_do_not_fit(moves: dict[str, list[int]]) -> None:
    recipe: dict[str, Any] = {"shape": [4, 2, 1, 1], "groups": 1, "run": 2, "taps": 1, "dtype": "int8",
                              "slots": [[0, 1, 2, 3]], "parts": [[1, 1]]}  # fmt: skip
    fitting = {"shape": [2, 4], "flip": [0], "axes": [1, 0]}
    assert order_by_recipe(bytes(range(8)), {**recipe, "from": fitting}, 8) == bytes([4, 5, 6, 7, 0, 1, 2, 3])
    with pytest.raises(ValueError):  # noqa: PT011  (in NumPy's words)
        order_by_recipe(bytes(8), {**recipe, "from": {**fitting, **moves}}, 8)


def test_what_does_more_than_to_move_weights_is_refused() -> None:
    with pytest.raises(ValueError, match="packed weights of another size"):
        restore_weights(bytes(99), {"level": "generic", "taps": 1, "shape": [1, 1, 1, 1], "groups": 1, "run": 1,
                                   "parts": [[1, 1]], "permuted": False})  # fmt: skip


def test_recipes_that_claim_too_much() -> None:
    recipe = {"g": [[1, 0, 0]] * 6, "shape": [1, 1], "slots": [[0] * 16], "parts": [[1, 1]]}
    with pytest.raises(ValueError, match="weights of more than 100 bytes"):
        pack_by_recipe(bytes(9), recipe, 100)
    with pytest.raises(ValueError, match="outside of the weights"):
        pack_by_recipe(bytes(9), {**recipe, "slots": [[99] * 16]}, 10**6)


def test_depthwise_weights_are_in_the_file_as_they_are(saved: Any) -> None:
    with zipfile.ZipFile(saved[1]) as archive:
        manifest, constants = json.loads(archive.read(MANIFEST)), archive.read(CONSTANTS)
    made = [cut for cut in manifest["joined"]["cuts"] if len(cut) > 4 and "variants" in cut[4]]
    assert [cut[4]["shape"] for cut in made] == [[48, 1, 3, 3]]
    _, _, begin, end, recipe = made[0]
    packed = pack_depthwise(constants[begin:end], recipe, 10**6)
    assert end - begin == 48 * 9 and len(packed) > 48 * 9


@pytest.mark.parametrize("name", LEVELS)
@pytest.mark.parametrize("channels, kernel, stride, dilation", [(150, 3, 1, 1), (64, 5, 2, 1), (80, 3, 1, 2)])
def test_depthwise_weights_are_made_again(name: str, channels: int, kernel: int, stride: int, dilation: int) -> None:
    """Tap by tap as the kernel reads them: [block][kernel row][variant][place][slot]."""
    conv = Conv2d(1, 16, 16, channels, channels, (kernel, kernel), (stride, stride), dilation=(dilation, dilation),
                  groups=channels)  # fmt: skip
    shape = DepthwiseShape(conv, level(name), 3)
    packing, weight = DepthwisePacking(shape), np.random.default_rng(3).integers(-9, 9, (channels, 1, kernel, kernel))
    weight = weight.astype(np.int8)
    packed = np.frombuffer(pack_depthwise(weight.tobytes(), packing.recipe(), 10**6), shape.ins.w_dtype)
    np.testing.assert_array_equal(packed, packing.weights(weight))
    expected, slots = [], iter(shape.slots)
    for block in (size for blocks in shape.blocks for size in [blocks.size] * blocks.count):
        places = [next(slots) for _ in range(block)]
        expected += [
            weight[channel, 0, row, tap] if tap >= 0 else 0
            for row in range(kernel) for variant in shape.columns.variants for channel in places for tap in variant
        ]  # fmt: skip
    np.testing.assert_array_equal(packed, expected)


def test_depthwise_recipes_that_claim_too_much() -> None:
    recipe = {"shape": [2, 1, 1, 1], "dtype": "int8", "variants": [[0, 1]], "blocks": [[[0, 1], [0]]]}
    assert bytes(pack_depthwise(b"\x05\x06", recipe, 8)) == b"\x05\0\x06\0"
    for changes, message in (
        ({"variants": [[0, 2]]}, "taps outside of the kernel"), ({"variants": [0]}, "weights of another type"),
        ({"blocks": [[[0, 1], [1]]]}, "channels outside of the weights"), ({"dtype": "float64"}, "another type"),
        ({"variants": [[0] * 100]}, "weights of more than 8 bytes"), ({"shape": [2, 3, 1, 1]}, "another type"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            pack_depthwise(b"\x05\x06", {**recipe, **changes}, 8)
