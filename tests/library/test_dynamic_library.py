"""Libraries of models with dynamic sizes: bits of the definition, sizes that are refused, indices outside of a table."""

from __future__ import annotations

import ctypes
import json
import mmap
import subprocess
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import tvm
from tvm import relax

import tvmq
from tests.graph.test_multiples import down_and_up
from tests.library.test_export_library import compile_example, needs_gcc
from tests.library.test_selftest import TARGETS, SelfTest
from tests.support.models import dynamic_models
from tests.support.random.graphs import random_inputs, random_model
from tvmq.codegen.compile import build
from tvmq.errors import DataError
from tvmq.graph.symbolic import dynamic_dimensions
from tvmq.library.library_export import LibraryExport
from tvmq.runtime.artifact.native_library import runs_linux_x86
from tvmq.runtime.c_library import Buffer, CFunctions, TensorDescription, load_library
from tvmq.runtime.c_structures import SizeDescription
from tvmq.runtime.inputs import aligned_zeros

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not runs_linux_x86(), reason="libraries are opened on Linux on x86-64 only"),
]
NULL, SHORT_WORKSPACE, WRONG_SIZE, NO_SUCH, WRONG_INDEX, NO_MULTIPLE = -1, -4, -5, -6, -15, -16
Feed = Mapping[str, np.ndarray]


def pictures(count: int, *sizes: int, channels: int = 3) -> Feed:
    """Input of picture models."""
    random = np.random.default_rng(sum(sizes))
    return {"x": random.standard_normal((count, channels, *sizes)).astype(np.float32)}


def lines(count: int, columns: int) -> Feed:
    """Input of `reader`."""
    return pictures(count, 8, columns, channels=1)


@dataclass(frozen=True)
class Dynamic:
    """A quantized model of dynamic sizes and its library."""

    module: tvm.IRModule
    export: LibraryExport

    def differing(self, feeds: list[Feed]) -> int:
        """Bytes that differ from those of the definition."""
        model, differing = load_library(self.export.library.parent), 0
        for feed in feeds:
            for result, expected in zip(model.run(feed), tvmq.reference.run(self.module, feed), strict=True):
                assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
                differing += int((result.view(np.uint8) != expected.view(np.uint8)).sum())
        return differing


def export_model(model: onnx.ModelProto, feed: Feed, folder: Path, target: Any = "x86-64-v3") -> Dynamic:
    """Quantize a model the fast way and export it."""
    mod, params = tvmq.from_onnx(model)
    fast = {"calibrate_mode": "minmax", "weight_rounding": "nearest", "bias_correction": False}
    with tvmq.qconfig(**fast, outlier_channels=False):
        module = tvmq.quantize(mod, params, [dict(feed)], guard=None)
    return Dynamic(module, tvmq.export_library(module, folder, target=target))


@pytest.fixture(scope="module")
def of_pictures(tmp_path_factory: pytest.TempPathFactory) -> Dynamic:
    """Pictures of any batch, rows and columns."""
    return export_model(dynamic_models.pictures(), pictures(1, 16, 16), tmp_path_factory.mktemp("m") / "pictures")


@pytest.fixture(scope="module")
def of_texts(tmp_path_factory: pytest.TempPathFactory) -> Dynamic:
    """Texts of any batch and up to 64 words."""
    return export_model(dynamic_models.encoder(), dynamic_models.texts(2, 16), tmp_path_factory.mktemp("m") / "texts")


def test_pictures_of_any_size(of_pictures):
    sizes = [(1, 16, 16), (3, 10, 7), (2, 33, 18), (1, 2, 2), (5, 2, 40)]
    assert of_pictures.differing([pictures(*size) for size in sizes]) == 0


def test_texts_of_any_length(of_texts):
    sizes = [(1, 1), (3, 7), (2, 64), (1, 16)]
    assert of_texts.differing([dynamic_models.texts(*size) for size in sizes]) == 0


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("model", "make", "sizes"),
    [
        (dynamic_models.branches, pictures, [(1, 16, 16), (2, 34, 18), (3, 9, 11), (1, 64, 2)]),
        (dynamic_models.reader, lines, [(1, 16), (3, 20), (2, 50), (4, 3)]),
        (dynamic_models.encoder, dynamic_models.texts, [(1, 1), (7, 3), (2, 64), (1, 33)]),
        (dynamic_models.pictures, pictures, [(1, 64, 64), (4, 5, 5), (2, 100, 3)]),
    ],
)
def test_all_kinds_on_all_instruction_sets(model, make, sizes, target, tmp_path):
    feeds = [make(*size) for size in sizes]
    dynamic = export_model(model(), feeds[0], tmp_path / "model", target)
    assert dynamic.differing(feeds) == 0
    selftest = SelfTest(dynamic.export.library, "model")
    assert selftest.init() == 0
    status, compared, number, _ = selftest.run()
    assert status == 0 and number == compared > 5


@pytest.mark.parametrize("is_by_sample", [True, False])
@pytest.mark.parametrize("seed", range(12))
def test_random_graphs_of_any_batch(seed, is_by_sample, tmp_path, monkeypatch):
    """Sample by sample, or by code for a dynamic number of them, where the proof is withheld."""
    if not is_by_sample:
        monkeypatch.setattr(build, "batch_dimension", lambda _mod: None)
    base = random_inputs(random_model(seed), 1, 3)
    module = tvmq.quantize(*tvmq.from_onnx(dynamic_models.random_batches(seed)), base, guard=None)
    dynamic = Dynamic(module, tvmq.export_library(module, tmp_path / "model", target="x86-64-v3"))
    counts = (1, 3) if dynamic_dimensions(module) else (len(base[0][next(iter(base[0]))]),)
    assert (
        dynamic.differing([{name: np.concatenate([f[name][:1] for f in base[:n]]) for name in base[0]} for n in counts])
        == 0
    )


def test_a_batch_of_none_gives_nothing(of_pictures, of_texts):
    assert load_library(of_pictures.export.library)(pictures(0, 6, 4)["x"]).shape == (0, 4, 6, 4)
    assert load_library(of_texts.export.library).run(dynamic_models.texts(0, 4))[0].shape == (0, 32)


def test_golden_values_of_dynamic_layers(of_pictures, of_texts):
    for dynamic, name in ((of_pictures, "pictures"), (of_texts, "texts")):
        selftest = SelfTest(dynamic.export.library, name)
        assert selftest.init() == 0
        status, compared, number, layer = selftest.run()
        assert (status, number, layer) == (0, compared, None) and compared > 5


@needs_gcc
def test_a_c_program_takes_sizes(of_pictures, tmp_path):
    program = compile_example(of_pictures.export.library.parent, tmp_path / "example")
    for sizes in ((2, 10, 6), (1, 5, 4)):
        feed = pictures(*sizes)
        feed["x"].tofile(tmp_path / "in")
        subprocess.run([program, *map(str, sizes), tmp_path / "in", tmp_path / "out"], check=True)
        (expected,) = tvmq.reference.run(of_pictures.module, feed)
        assert (tmp_path / "out").read_bytes() == expected.tobytes()
    done = subprocess.run([program, "1", "-3", "4"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "a dynamic dimension has a size that the model does not take" in done.stderr
    shown = subprocess.run([program], capture_output=True, text=True, check=True)
    assert "name a size for rows, of 2 to 2147483647" in shown.stderr
    header = of_pictures.export.header.read_text()
    assert "size 0: batch, 0 to 2147483647\n   size 1: rows, 2 to" in header


class RawLibrary:
    """Functions of a library with sizes as they are."""

    def __init__(self, export: LibraryExport) -> None:
        self.name = export.header.stem
        self.functions = CFunctions(export.library, self.name)
        self.functions.init()
        self.dimension: Callable[..., int] = self.functions._library[f"{self.name}_dimension"]

    def workspace_bytes(self, sizes: tuple[int, ...] | None) -> int:
        """Bytes for one thread, or a status."""
        return int(self.functions.workspace_bytes(as_sizes(sizes), 1))

    def run(self, sizes: tuple[int, ...] | None, inputs: list[np.ndarray], output: np.ndarray, workspace: int) -> int:
        """Status of a run with a workspace of so many bytes."""
        memory = aligned_zeros([workspace + 64], "uint8")
        buffers = (Buffer * len(inputs))(*(Buffer(array.ctypes.data, array.nbytes) for array in inputs))
        result, room = Buffer(output.ctypes.data, output.nbytes), Buffer(memory.ctypes.data, workspace)
        return int(self.functions.run(as_sizes(sizes), buffers, ctypes.byref(result), room, None))


def as_sizes(sizes: tuple[int, ...] | None) -> Any:
    """Sizes as C takes them."""
    return None if sizes is None else (ctypes.c_int64 * len(sizes))(*sizes)


def test_wrong_sizes_get_a_status(of_pictures):
    library, most = RawLibrary(of_pictures.export), 2**31 - 1
    x, y = aligned_zeros((1, 3, 8, 8), "float32"), aligned_zeros((1, 4, 8, 8), "float32")
    need = library.workspace_bytes((1, 8, 8))
    assert library.run((1, 8, 8), [x], y, need) == 0
    assert library.run((1, 8, 8), [x], y, need - 1) == SHORT_WORKSPACE == library.run((1, 8, 8), [x], y, 64)
    wrong = [None, (-1, 8, 8), (1, 0, 8), (1, 8, -(2**63)), (1, 2**63 - 1, 8), (most + 1, 8, 8), (1, most, most)]
    for sizes in wrong:
        assert library.workspace_bytes(sizes) == WRONG_SIZE == library.run(sizes, [x], y, need), sizes
        tensor = TensorDescription()
        expected = 0 if sizes is None else WRONG_SIZE
        assert library.functions.output(0, as_sizes(sizes), ctypes.byref(tensor)) == expected, sizes
    assert library.workspace_bytes((most, 8, 8)) == need  # samples are run one after the other


def test_hostile_sizes_never_lead_outside(of_pictures):
    library, random = RawLibrary(of_pictures.export), np.random.default_rng(0)
    ends = np.array([-(2**63), -1, 0, 1, 2, 3, 8, 2**15, 2**20, 2**31 - 1, 2**31, 2**62, 2**63 - 1])
    x, y = aligned_zeros((1, 3, 8, 8), "float32"), aligned_zeros((1, 4, 8, 8), "float32")
    statuses = set()
    for _ in range(500):
        sizes = tuple(int(size) for size in random.choice(ends, 3))
        assert library.workspace_bytes(sizes) >= 0 or library.workspace_bytes(sizes) == WRONG_SIZE
        statuses.add(library.run(sizes, [x], y, 1 << 20))
    assert statuses <= {0, -2, SHORT_WORKSPACE, WRONG_SIZE} and {-2, WRONG_SIZE} <= statuses


def test_dimensions_and_shapes_are_described(of_pictures):
    library = RawLibrary(of_pictures.export)
    size = (ctypes.c_int64 * 3)()
    described = []
    for number in range(3):
        assert library.dimension(number, size) == 0
        described.append((ctypes.c_char_p(size[0]).value, size[1], size[2]))
    assert described == [(name, 2 * (name != b"batch"), 2**31 - 1) for name in (b"batch", b"rows", b"columns")]
    assert library.dimension(3, size) == NO_SUCH and library.dimension(0, None) == NULL
    tensor = TensorDescription()
    assert library.functions.output(0, None, ctypes.byref(tensor)) == 0
    assert (tensor.shape[: tensor.rank], tensor.bytes) == ([-1, 4, -4, -4], -1)
    assert library.functions.output(0, as_sizes((2, 9, 6)), ctypes.byref(tensor)) == 0
    assert (tensor.shape[: tensor.rank], tensor.bytes) == ([2, 4, 8, 6], 2 * 4 * 8 * 6 * 4)
    facts = json.loads(of_pictures.export.facts.read_text())
    assert [*facts["limits"]] == ["batch", "rows", "columns"] and facts["batch"] == "batch"
    assert facts["inputs"][0]["shape"] == ["batch", 3, "rows", "columns"]


def test_indices_outside_get_a_status(of_texts):
    library = RawLibrary(of_texts.export)
    feed = dynamic_models.texts(2, 5)
    ids, mask = (aligned_zeros((2, 5), "int64") for _ in range(2))
    ids[...], mask[...] = feed["ids"], feed["mask"]
    y, need = aligned_zeros((2, 32), "float32"), library.workspace_bytes((2, 5))
    for index, status in ((0, 0), (49, 0), (-50, 0), (50, WRONG_INDEX), (-51, WRONG_INDEX), (2**63 - 1, WRONG_INDEX)):
        ids[1, 4] = index
        assert library.run((2, 5), [ids, mask], y, need) == status
    with pytest.raises(DataError, match="input 'ids', read by layer .* index 9223372036854775807 lies outside of -50"):
        load_library(of_texts.export.library).run({"ids": ids, "mask": mask})


def test_inputs_of_other_sizes_are_refused(of_texts):
    model = load_library(of_texts.export.library)
    feed = dynamic_models.texts(2, 5)
    with pytest.raises(DataError, match="input 'mask' has 4 for 'sequence' .axis 1., input 'ids' has 5; they must be"):
        model.run({"ids": feed["ids"], "mask": feed["mask"][:, :4]})
    with pytest.raises(
        DataError, match="has 65 for 'sequence' .axis 1., the model takes 1 to 64: layer '/slice_6' takes"
    ):
        model.run(dynamic_models.texts(1, 65))
    assert model.input_info[0].shape == ("batch", "sequence")


def test_results_do_not_depend_on_threads(of_texts):
    """Three parts of each parallel loop, by a launch function of the program."""
    task = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32)
    launches = []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p, task, ctypes.c_void_p, ctypes.c_uint32)
    def launch(pool, task, job, count):
        launches.append(count)
        for number in reversed(range(count)):
            task(job, number)

    threads = (ctypes.c_uint64 * 3)(3, ctypes.cast(launch, ctypes.c_void_p).value, 0)
    library, feed = RawLibrary(of_texts.export), dynamic_models.texts(2, 64)
    arrays = [aligned_zeros((2, 64), "int64") for _ in feed]
    for array, value in zip(arrays, feed.values(), strict=True):
        array[...] = value
    y, sizes = aligned_zeros((2, 32), "float32"), as_sizes((2, 64))
    memory = aligned_zeros([library.functions.workspace_bytes(sizes, 3)], "uint8")
    buffers = (Buffer * 2)(*(Buffer(array.ctypes.data, array.nbytes) for array in arrays))
    result, room = Buffer(y.ctypes.data, y.nbytes), Buffer(memory.ctypes.data, memory.nbytes)
    assert library.functions.run(sizes, buffers, ctypes.byref(result), room, ctypes.byref(threads)) == 0
    np.testing.assert_array_equal(y, tvmq.reference.run(of_texts.module, feed)[0])
    assert memory.nbytes > library.workspace_bytes((2, 64)) and {*launches} in ({3}, {2, 3})


def test_threads_of_different_sizes(of_pictures):
    """Each thread has a model of its own sizes and the same library."""
    differing = []

    def run_often(number: int) -> None:
        library, feed = RawLibrary(of_pictures.export), pictures(1 + number % 2, 4 + 2 * number, 6)
        (expected,) = tvmq.reference.run(of_pictures.module, feed)
        sizes, y = (1 + number % 2, 4 + 2 * number, 6), aligned_zeros(expected.shape, "float32")
        x = aligned_zeros(feed["x"].shape, "float32")
        x[...] = feed["x"]
        for count in range(20):
            y[...] = -1
            if library.run(sizes, [x], y, library.workspace_bytes(sizes)) or not np.array_equal(y, expected):
                differing.append((number, count))

    threads = [threading.Thread(target=run_often, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert differing == []


class GuardedMemory:
    """Memory that ends at a page which nobody may touch; bytes of it begin at a multiple of 64."""

    PAGE = mmap.PAGESIZE

    def __init__(self, bytes: int) -> None:
        pages = -(-bytes // self.PAGE) + 1
        self._map = mmap.mmap(-1, (pages + 1) * self.PAGE)
        begin = np.frombuffer(self._map, np.uint8).ctypes.data
        guard = begin + pages * self.PAGE
        assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(guard), ctypes.c_size_t(self.PAGE), 0) == 0
        self.address, self.bytes = (guard - bytes) // 64 * 64, bytes

    def write(self, array: np.ndarray) -> Buffer:
        """Buffer of an array's bytes."""
        ctypes.memmove(self.address, array.tobytes(), array.nbytes)
        return Buffer(self.address, array.nbytes)

    def read(self) -> bytes:
        """All bytes."""
        return ctypes.string_at(self.address, self.bytes)


def test_runs_stay_inside_their_buffers(of_pictures):
    library = RawLibrary(of_pictures.export)
    for sizes in ((1, 2, 2), (3, 5, 7), (2, 16, 16), (1, 31, 64)):
        feed = pictures(*sizes)
        (expected,) = tvmq.reference.run(of_pictures.module, feed)
        need = library.workspace_bytes(sizes)
        x, y, room = (GuardedMemory(size) for size in (feed["x"].nbytes, expected.nbytes, need))
        buffers = x.write(feed["x"]), Buffer(y.address, y.bytes), Buffer(room.address, need)
        pointers = map(ctypes.byref, buffers[:2])
        assert library.functions.run(as_sizes(sizes), *pointers, buffers[2], None) == 0
        assert y.read() == expected.tobytes()


def relax_module(function: Callable[[relax.BlockBuilder, relax.Var, Any], relax.Expr], *shape: Any) -> tvm.IRModule:
    """A module of x[shape] with n for each "n", given to function(builder, x, n)."""
    n = tvm.tirx.Var("n", "int64")
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType([n if size == "n" else size for size in shape], "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            y = builder.emit_output(function(builder, x, n))
        builder.emit_func_output(y)
    return builder.get()


def test_sizes_below_what_a_layer_needs_are_refused(tmp_path):
    """A window of 5 over 3 pixels would have results of -1."""
    weight = np.ones((1, 1, 5, 5), np.float32)
    module = relax_module(lambda b, x, n: relax.op.nn.conv2d(x, relax.const(weight)), 1, 1, "n", 8)
    export = tvmq.export_library(module, tmp_path / "window", target="x86-64-v3")
    x = np.arange(48, dtype=np.float32).reshape(1, 1, 6, 8)
    model = load_library(export.library)
    np.testing.assert_array_equal(model(x), tvmq.reference.run(module, {"x": x})[0])
    assert RawLibrary(export).workspace_bytes((3,)) == WRONG_SIZE
    with pytest.raises(DataError, match="input 'x' has 3 for 'n' .axis 2., the model takes at least 5: .* would have no values"):
        model(x[:, :, :3])


def test_one_batch_of_relu(tmp_path):
    """Results of all samples are right where a sample begins at no multiple of 64 bytes."""
    module = relax_module(lambda b, x, n: relax.op.nn.relu(x), "n", 3)
    model = load_library(tvmq.export_library(module, tmp_path / "relu", target="x86-64-v3").library)
    for count in (0, 1, 7, 1000):
        x = np.random.default_rng(count).standard_normal((count, 3)).astype(np.float32)
        np.testing.assert_array_equal(model(x), np.maximum(x, 0))


@pytest.fixture(scope="module")
def of_multiples(tmp_path_factory: pytest.TempPathFactory) -> Dynamic:
    """Pictures whose rows and columns are multiples of 4, halved twice and doubled again."""
    return export_model(down_and_up(), pictures(1, 8, 8, channels=4), tmp_path_factory.mktemp("m") / "multiples")


def test_sizes_that_must_be_multiples(of_multiples):
    sizes = [(1, 4, 4), (3, 8, 20), (2, 64, 12)]
    assert of_multiples.differing([pictures(*size, channels=4) for size in sizes]) == 0
    model = load_library(of_multiples.export.library.parent)
    with pytest.raises(DataError, match="run: input 'x' has 10 for 'rows' .* takes multiples of 4; pad or resize"):
        model.run(pictures(1, 10, 8, channels=4))
    alone = load_library(of_multiples.export.library)
    with pytest.raises(DataError, match="run: input 'x' has 6 for 'columns' .* takes multiples of 4; pad or resize"):
        alone.run(pictures(1, 8, 6, channels=4))


def test_other_sizes_than_multiples_get_a_status(of_multiples):
    library = RawLibrary(of_multiples.export)
    x, y = aligned_zeros((1, 4, 8, 8), "float32"), aligned_zeros((1, 2, 4, 4), "float32")
    need = library.workspace_bytes((1, 8, 8))
    assert library.run((1, 8, 8), [x], y, need) == 0
    for sizes in ((1, 8, 7), (1, 6, 8), (1, 2**31 - 6, 8)):
        assert library.workspace_bytes(sizes) == NO_MULTIPLE == library.run(sizes, [x], y, need), sizes
    assert library.workspace_bytes((1, 0, 8)) == WRONG_SIZE == library.workspace_bytes((1, 8, 2**31 - 2))
    one = SizeDescription()
    assert library.dimension(1, ctypes.byref(one)) == 0
    assert (one.name, one.least, one.most, one.multiple) == (b"rows", 4, 2**31 - 4, 4)
    assert "size 1: rows, 4 to 2147483644, multiples of 4" in of_multiples.export.header.read_text()


@needs_gcc
def test_a_c_program_takes_multiples(of_multiples, tmp_path):
    program = compile_example(of_multiples.export.library.parent, tmp_path / "example")
    feed = pictures(2, 12, 8, channels=4)
    feed["x"].tofile(tmp_path / "in")
    subprocess.run([program, "2", "12", "8", tmp_path / "in", tmp_path / "out"], check=True)
    (expected,) = tvmq.reference.run(of_multiples.module, feed)
    assert (tmp_path / "out").read_bytes() == expected.tobytes()
    done = subprocess.run([program, "2", "10", "8"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "is no multiple of the number that its description says: pad" in done.stderr
    shown = subprocess.run([program], capture_output=True, text=True, check=False)
    assert "name a size for rows, of 4 to 2147483644 in steps of 4" in shown.stderr


def test_golden_values_at_multiples(of_multiples):
    selftest = SelfTest(of_multiples.export.library, "multiples")
    assert selftest.init() == 0
    status, compared, number, _ = selftest.run()
    assert status == 0 and number == compared > 2
