"""Limits of imported models: a bound on memory, values that are possible, files of one folder alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from frontend_models import make_model, run_float
from onnx import TensorProto, helper

from tvmq.base.memory import MOST_ELEMENTS, usable_memory
from tvmq.errors import MemoryLimitError, ModelError, TvmqError, UnsupportedOpError
from tvmq.formats.onnx.importer.from_onnx import from_onnx
from tvmq.formats.relax import from_relax

F32 = np.float32


def floats(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


X4 = {"x": ("float32", (1, 4))}
PICTURE = {"x": ("float32", (1, 1, 4, 4))}
W22 = {"w": np.ones((1, 1, 2, 2), F32)}


def i64(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def single(
    op: str, inputs: list[str], constants: dict[str, Any] | None = None, given: Any = X4, **attributes: Any
) -> Any:
    """A model of one layer, called "it"; opset 18."""
    node = helper.make_node(op, inputs, ["y"], name="it", **attributes)
    return make_model([node], given, ["y"], {name: np.asarray(value) for name, value in (constants or {}).items()})


def refused(model: Any, error: type[TvmqError], *words: str, **options: Any) -> str:
    """The one sentence with which the import ends, at once."""
    start = time.process_time()
    with pytest.raises(error) as caught:
        from_onnx(model, **options)
    message = str(caught.value)
    assert all(word in message for word in words), message
    assert "\n" not in message and "; " in message and "Check failed" not in message and len(message) < 500, message
    assert time.process_time() - start < 5
    return message


# ---- memory

LARGE: dict[str, tuple[Any, str]] = {
    "ConstantOfShape": (lambda: single("ConstantOfShape", ["s"], {"s": i64(10**6, 10**6)}), "float32[1000000, 1000000] takes 4.0 TB"),
    "Expand of a constant": (lambda: single("Expand", ["c", "s"], {"c": F32(1), "s": i64(10**6, 10**6)}), "takes 4.0 TB"),
    "Tile of a constant": (lambda: single("Tile", ["c", "s"], {"c": np.ones(1, F32), "s": i64(10**12)}), "takes 4.0 TB"),
    "Tile": (lambda: single("Tile", ["x", "s"], {"s": i64(1, 10**12)}), "float32[1, 4000000000000] takes 16.0 TB"),
    "Tile that wraps": (lambda: single("Tile", ["x", "s"], {"s": i64(1, 2**62)}), "takes 73.8 EB"),
    "Pad": (lambda: single("Pad", ["x", "s"], {"s": i64(0, 0, 0, 10**12)}), "takes 4.0 TB"),
    "Pad that wraps": (lambda: single("Pad", ["x", "s"], {"s": i64(0, 2**63 - 1, 0, 2**63 - 1)}), "takes 73.8 EB"),
    "Resize": (lambda: single("Resize", ["x", "", "s"], {"s": np.array([1, 1, 1e6, 1e6], F32)}, PICTURE), "takes 64.0 TB"),
    "Range": (lambda: single("Range", ["a", "b", "d"], {"a": F32(0), "b": F32(1e12), "d": F32(1)}), "takes 4.0 TB"),
    "OneHot": (
        lambda: single("OneHot", ["i", "d", "v"], {"d": i64(10**12), "v": np.array([0, 1], F32)}, {"i": ("int64", (4,))}),
        "float32[4, 1000000000000] takes 16.0 TB",
    ),
    "outer product": (
        lambda: single("MatMul", ["a", "b"], {"a": np.ones((10**6, 1), F32), "b": np.ones((1, 10**6), F32)}),
        "float32[1000000, 1000000] takes 4.0 TB",
    ),
    "windows": (lambda: single("ConvTranspose", ["x", "w"], W22, PICTURE, strides=[2**20, 2**20]), "TB"),
}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
def test_layers_above_the_bound_are_refused_by_name(name: str) -> None:
    make, words = LARGE[name]
    refused(make(), MemoryLimitError, "layer 'it'", words, "the bound is 1.0 GB", "max_bytes", max_bytes=10**9)


def test_a_shape_that_only_folding_tells_is_refused_before_it_is_computed() -> None:
    """Shape inference does not follow this arithmetic."""
    nodes = [
        helper.make_node("Pow", ["ten", "six"], ["n"]),
        helper.make_node("ConstantOfShape", ["n"], ["w"], name="large"),
        helper.make_node("ReduceSum", ["w"], ["s"], keepdims=0),
        helper.make_node("Add", ["x", "s"], ["y"]),
    ]
    model = make_model(nodes, X4, ["y"], {"ten": i64(10, 10), "six": i64(6, 6)})
    refused(model, MemoryLimitError, "'large'", "4.0 TB", max_bytes=10**9)


def test_inputs_above_the_bound() -> None:
    def relu(shape: tuple[int, ...]) -> onnx.ModelProto:
        return single("Relu", ["x"], given={"x": ("float32", shape)})

    refused(relu((10**10, 10**10)), MemoryLimitError, "input 'x'", "takes 400.0 EB", "the bound is")
    few = f"has {2**31} elements, compiled code counts up to {MOST_ELEMENTS}"
    refused(relu((1, 2**31)), MemoryLimitError, "input 'x'", few, max_bytes=2**60)


def test_the_bound_is_an_option() -> None:
    model = single("Tile", ["x", "s"], {"s": i64(1, 100)})
    from_onnx(model, max_bytes=1600)
    refused(model, MemoryLimitError, "'it' (Tile)", "1.6 kB", "1.6 kB", max_bytes=1599)
    assert usable_memory() > 2**28
    for wrong in (0, -1, True, 1.5, "1GB", 2**63):
        with pytest.raises(TvmqError, match="max_bytes must be a whole number of bytes"):
            from_onnx(model, max_bytes=wrong)  # type: ignore[arg-type]


def test_dynamic_dimensions_count_as_one() -> None:
    model = single("Relu", ["x"], given={"x": ("float32", ("batch", 100))})
    from_onnx(model, max_bytes=400)
    refused(model, MemoryLimitError, "input 'x'", max_bytes=399)


def test_relax_modules_have_the_bound_too() -> None:
    from tvm import relax

    builder, x = relax.BlockBuilder(), relax.Var("x", relax.TensorType((1, 4), "float32"))
    with builder.function("main", [x]):
        builder.emit_func_output(builder.emit(relax.op.broadcast_to(x, (10**6, 4)), "wide"))
    with pytest.raises(
        MemoryLimitError, match=r"from_relax, function 'main', layer 'wide': float32\[1000000, 4\] takes"
    ):
        from_relax(builder.get(), max_bytes=10**6)
    from_relax(builder.get(), max_bytes=10**8)


@pytest.mark.slow
def test_torch_models_have_the_bound_too() -> None:
    torch = pytest.importorskip("torch")
    from tvmq.formats.torch.importer.export import from_torch

    class Wide(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x.expand(10**6, 4) + 1

    with pytest.raises(
        MemoryLimitError, match=r"from_torch, layer '\w+': float32\[1000000, 4\] takes 16.0 MB, the bound is"
    ):
        from_torch(Wide(), torch.ones(1, 4), max_bytes=10**6)


# ---- values that are impossible

WINDOW = {
    "strides": [0, 1], "dilations": [1, -1], "pads": [-9, 0, 0, 0], "group": 0, "kernel_shape": [2**40, 1],
}  # fmt: skip


@pytest.mark.parametrize("attribute", WINDOW)
def test_windows_that_are_impossible(attribute: str) -> None:
    value = WINDOW[attribute]
    model = single("Conv", ["x", "w"], W22, PICTURE, **{attribute: value})
    refused(model, UnsupportedOpError, "layer 'it': Conv", f"{attribute} is {value}", "but must be whole numbers from")


IMPOSSIBLE: dict[str, tuple[Any, str]] = {
    "pool": (lambda: single("MaxPool", ["x"], given=PICTURE, kernel_shape=[0, 0]), "kernel_shape is [0, 0], but must"),
    "window": (lambda: single("MaxPool", ["x"], given=PICTURE, kernel_shape=[9, 1]), "which has a negative size"),
    "text": (lambda: single("Conv", ["x", "w"], W22, PICTURE, strides="ab"), "strides is of type string, but must be"),
    "inputs": (lambda: single("Add", ["x"]), "it has 1 inputs, but the operator takes 2"),
    "type": (lambda: single("Elu", ["x"], alpha=1), "alpha is 1, but the operator takes float"),
    "channels": (lambda: single("Conv", ["x", "w"], {"w": np.ones((2, 3, 2, 2), F32)}, PICTURE), "the input has 1 channels"),
    "rank": (lambda: single("Conv", ["x", "w"], {"w": np.ones((1, 1, 2), F32)}, PICTURE), "has 4 dimensions and the weight 3"),
    "perm": (lambda: single("Transpose", ["x"], perm=[0, 0]), "perm is [0, 0], but must contain each of 0 to 1 once"),
    "concat": (lambda: single("Concat", ["x", "x"], axis=9), "axis is 9, but must be from -2 to 1"),
    "concat of ranks": (lambda: single("Concat", ["x", "c"], {"c": np.ones(4, F32)}, axis=0), "[1, 2] dimensions"),
    "softmax": (lambda: single("Softmax", ["x"], axis=2), "axis is 2, but must be from -2 to 1"),
    "sum": (lambda: single("ReduceSum", ["x", "a"], {"a": i64(5)}), "an axis is 5, but must be from -2 to 1"),
    "sum twice": (lambda: single("ReduceSum", ["x", "a"], {"a": i64(1, -1)}), "axes are [1, -1], but each may occur only once"),
    "resize": (lambda: single("Resize", ["x", "", "s"], {"s": np.array([1, 1, 0, 2], F32)}, PICTURE), "scales are [1.0"),
    "resize by NaN": (lambda: single("Resize", ["x", "", "s"], {"s": np.array([1, 1, np.nan, 2], F32)}, PICTURE), "finite"),
    "split": (lambda: helper.make_node("Split", ["x", "s"], ["y", "z"], name="it", axis=1), "split is [-1, 5], but must be"),
    "slice": (
        lambda: single("Slice", ["x", "a", "b", "c", "d"], {"a": i64(0), "b": i64(3), "c": i64(1), "d": i64(0)}),
        "steps are [0], but none may be 0",
    ),
    "range": (
        lambda: single("Range", ["a", "b", "d"], {"a": F32(0), "b": F32(9), "d": F32(0)}),
        "delta is [0.0], but must be one number other than 0",
    ),
    "tile": (lambda: single("Tile", ["x", "s"], {"s": i64(1, -2)}), "repeats are [1, -2], but must be 2 numbers of at least 0"),
    "pad": (lambda: single("Pad", ["x", "s"], {"s": i64(0, -9, 0, 0)}), "the shape [1, -5], which has a negative size"),
    "reshape": (lambda: single("Reshape", ["x", "s"], {"s": i64(2**62, 4)}), "the input [1, 4] has 4 elements"),
    "reshape to -1, -1": (lambda: single("Reshape", ["x", "s"], {"s": i64(-1, -1)}), "but must be sizes of at least 0 and at most one"),
    "constant": (lambda: single("ConstantOfShape", ["s"], {"s": i64(-3)}), "its shape is [-3], but sizes must be at least 0"),
    "recurrent": (
        lambda: single("LSTM", ["x", "w", "r"], {"w": np.zeros((1, 0, 3), F32), "r": np.zeros((1, 0, 0), F32)},
                       {"x": ("float32", (2, 1, 3))}, hidden_size=0), "hidden_size is 0, but must",
    ),
    "modulo": (lambda: single("Mod", ["x", "c"], {"c": np.int32([1, 0])}, {"x": ("int32", (3, 2))}), "divides integers by 0"),
    "blocks": (lambda: single("DepthToSpace", ["x"], given={"x": ("float32", (1, 3, 2, 2))}, blocksize=2), "not a multiple of 4"),
}  # fmt: skip


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_impossible_values_are_named(name: str) -> None:
    """Layer, operator, what is given and what is allowed."""
    make, words = IMPOSSIBLE[name]
    model = make()
    if isinstance(model, onnx.NodeProto):
        model = make_model([model], X4, ["y", "z"], {"s": i64(-1, 5)})
    refused(model, UnsupportedOpError, "layer 'it'", words)


def test_what_only_tvm_refuses_is_said_without_its_innards() -> None:
    model = single("Einsum", ["x"], equation="i" * 60 + "->")
    refused(model, UnsupportedOpError, "layer 'it'", "Einsum", "does not fit ranks [2]")
    model = single("MatMul", ["x", "w"], {"w": floats(3, 3)})
    message = refused(model, TvmqError, "MatMul")
    assert "T.int64" not in message and "ir.Op" not in message


def damaged(change: Callable[[onnx.GraphProto], Any]) -> onnx.ModelProto:
    """A sum whose graph was changed."""
    model = single("Add", ["x", "c"], {"c": floats(4)})
    change(model.graph)
    return model


AMBIGUOUS: dict[str, tuple[Callable[[onnx.GraphProto], Any], tuple[str, ...]]] = {
    "input": (lambda graph: graph.input.append(graph.input[0]), ("2 inputs named 'x'",)),
    "weight": (lambda graph: graph.initializer.append(graph.initializer[0]), ("2 weights named 'c'",)),
    "output": (lambda graph: setattr(graph.output[0], "name", ""), ("an output of 'model' has no name",)),
    "size": (lambda graph: graph.initializer[0].dims.__setitem__(0, -4), ("weight 'c'", "[-4]", "cannot be negative")),
    "input size": (
        lambda graph: setattr(graph.input[0].type.tensor_type.shape.dim[1], "dim_value", -4), ("'x' of 'model'", "[1, -4]")
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_graphs_that_are_ambiguous(name: str) -> None:
    change, words = AMBIGUOUS[name]
    refused(damaged(change), ModelError, *words)


def test_an_operator_set_that_is_there_twice() -> None:
    twice = single("Relu", ["x"])
    twice.opset_import.append(helper.make_opsetid("ai.onnx", 9))
    refused(twice, ModelError, "'ai.onnx' in versions", "and 9")


@pytest.mark.parametrize("domain", ["", "ai.onnx"])
def test_an_operator_set_that_is_there_twice_in_one_version(domain: str) -> None:
    """As skl2onnx and onnx.compose.merge_models write it; onnxruntime takes such files."""
    twice = single("Relu", ["x"])
    twice.opset_import.append(helper.make_opsetid(domain, twice.opset_import[0].version))
    mod, params = from_onnx(twice)
    x = np.linspace(-2, 2, num=4, dtype=np.float32).reshape(X4["x"][1])
    assert np.array_equal(run_float(mod, params, {"x": x})[0], np.maximum(x, 0))


# ---- files


def external(tensor: onnx.TensorProto, location: str) -> onnx.TensorProto:
    """The tensor with its data in a file of that name."""
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    return tensor


def tensor(name: str = "w") -> onnx.TensorProto:
    return onnx.numpy_helper.from_array(np.arange(4, dtype=F32), name)


def constant_model(location: str) -> onnx.ModelProto:
    node = helper.make_node("Constant", [], ["w"], value=external(tensor(), location))
    return make_model([node, helper.make_node("Add", ["x", "w"], ["y"], name="it")], X4, ["y"])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a secret in it and links to it."""
    (tmp_path / "secret.bin").write_bytes(np.arange(1, 5, dtype=F32).tobytes())
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "own.bin").write_bytes(np.arange(4, dtype=F32).tobytes())
    (tmp_path / "model" / "link.bin").symlink_to(tmp_path / "secret.bin")
    (tmp_path / "model" / "outside").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def places(location: str) -> dict[str, onnx.ModelProto]:
    """Models that name a file in each place where a tensor can stand."""
    models = {name: single("Relu", ["x"]) for name in ("sparse", "attribute", "training", "graph", "function")}
    models["constant"] = constant_model(location)
    models["weight"] = single("Add", ["x", "w"], {"w": floats(4)})
    external(models["weight"].graph.initializer[0], location)
    sparse = models["sparse"].graph.sparse_initializer.add()
    sparse.values.CopyFrom(external(tensor(), location))
    hidden = models["attribute"].graph.node[0].attribute.add(name="hidden", type=onnx.AttributeProto.TENSORS)
    hidden.tensors.append(external(tensor(), location))
    models["training"].training_info.add().algorithm.initializer.append(external(tensor(), location))
    graph = helper.make_graph([helper.make_node("Identity", ["w"], ["o"])], "g", [], [], [external(tensor(), location)])
    models["graph"].graph.node[0].attribute.append(helper.make_attribute("body", graph))
    inner = helper.make_node("Constant", [], ["o"], value=external(tensor(), location))
    models["function"].functions.append(
        helper.make_function("f", "F", [], ["o"], [inner], [helper.make_opsetid("", 18)])
    )
    return models


def test_bytes_and_protos_read_no_files(folder: Path) -> None:
    for name, model in places("secret.bin").items():
        for source in (model, model.SerializeToString()):
            if name == "sparse":
                refused(source, ModelError, "sparse weights")
            else:
                refused(source, ModelError, "tensor 'w' in an external file", "folder=")


@pytest.mark.slow
def test_a_folder_that_is_given_is_read(folder: Path) -> None:
    model = constant_model("own.bin")
    mod, params = from_onnx(model.SerializeToString(), folder="model")
    x = np.zeros((1, 4), F32)
    np.testing.assert_array_equal(run_float(mod, params, {"x": x})[0], [[0, 1, 2, 3]])
    (folder / "model" / "m.onnx").write_bytes(model.SerializeToString())
    mod, params = from_onnx(folder / "model" / "m.onnx")
    np.testing.assert_array_equal(run_float(mod, params, {"x": x})[0], [[0, 1, 2, 3]])


@pytest.mark.parametrize(
    "location", ["../secret.bin", "outside/secret.bin", "link.bin", "/etc/passwd", "", "a\0b", ".", "no"]
)
def test_no_path_leaves_the_folder(folder: Path, location: str) -> None:
    refused(constant_model(location), ModelError, "external data", "keep the data files beside", folder="model")
    path = folder / "model" / "m.onnx"
    path.write_bytes(constant_model(location).SerializeToString())
    refused(path, ModelError, "external data")


def test_external_data_must_fit_their_shape(folder: Path) -> None:
    for key, value, words in (
        ("offset", "-5", "its offset '-5' is not"),
        ("offset", "8", "has 16 bytes, but 24 are needed"),
        ("length", "9" * 17, "its shape [4] takes 16"),
    ):
        model = constant_model("own.bin")
        model.graph.node[0].attribute[0].t.external_data.add(key=key, value=value)
        refused(model, ModelError, words, folder="model")
    model = constant_model("own.bin")
    model.graph.node[0].attribute[0].t.dims[:] = [10**6, 10**6]
    refused(model, MemoryLimitError, "tensor 'w'", "4.0 TB", folder="model")


# ---- names


def test_names_are_printable() -> None:
    node = helper.make_node("Swirl", ["x"], ["y"], name="a\n\x1b[31mred\u202e[bold]")
    message = refused(make_model([node], X4, ["y"]), UnsupportedOpError)
    assert r"layer 'a\n\x1b[31mred\u202e[bold]'" in message
    node = helper.make_node("Relu", ["x\n"], ["y"], name="n" * 10**6)
    mod, _ = from_onnx(make_model([node], {"x\n": ("float32", (1, 4))}, ["y"]))
    from tvmq.graph.names import get_names, input_names

    assert list(input_names(mod["main"]).values()) == ["x\\n"]
    assert max(len(name) for names in get_names(mod["main"]).values() for name in names) < 600
