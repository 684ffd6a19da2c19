"""export_c as a whole: real networks, the files, the plan of the arena, and what is refused."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

import tvmq
from tests.conftest import Digits
from tests.formats.c.cores import core_of
from tests.support.devices.c_harness import CORES, SANITIZED, DoesNotFit, Native, compile_c, run_on, run_program
from tests.support.models.networks import Net
from tvmq.errors import ConfigError, IntegralError, ModelError, OutputError, StageError, UnsupportedOpError
from tvmq.formats.c.arena import plan
from tvmq.formats.c.tensor import Storage
from tvmq.graph import ops

needs_gcc = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
QUICKLY = {"calibrate_mode": "minmax", "weight_rounding": "nearest", "bias_correction": False}
INTEGRAL = {"requantize": "fixed_point", "partition_conversions": "fully_integral"}


def integral(mod: Any, params: Any, data: Any, **options: Any) -> tvm.IRModule:
    with tvmq.qconfig(**QUICKLY, **INTEGRAL, **options):
        return tvmq.quantize(mod, params, data, guard=None)


@pytest.fixture(scope="module")
def digits_core(digits: Digits) -> tvm.IRModule:
    return integral(digits.mod, digits.params, {"image": digits.example.calibration[:8]})


def autoencoder() -> tuple[tvm.IRModule, list[dict[str, np.ndarray]]]:
    """A dense autoencoder, 64-24-8-24-64, on data of 8 degrees of freedom."""
    net = Net((1, 64), seed=5)
    y = net.inputs[0]
    for inputs, outputs in ((64, 24), (24, 8), (8, 24)):
        y = net.op("Relu", net.dense(y, inputs, outputs))
    mod, params = tvmq.from_onnx(net.model(net.dense(y, 24, 64)))
    random = np.random.default_rng(6)
    basis = random.standard_normal((8, 64))
    data = [{"x": (random.standard_normal((1, 8)) @ basis).astype(np.float32)} for _ in range(16)]
    return integral(mod, params, data), data


def samples_of(mod: tvm.IRModule, feeds: list[Any]) -> list[Any]:
    """(codes, results) of the compiled functions, and of the definition, which agree."""
    exe = tvmq.build(mod)
    first, core = exe["quantize_inputs"], exe["quantized_main"]
    found = []
    for feed in feeds:
        codes = first.run(feed)
        results = core.run({info.name: array for info, array in zip(core.input_info, codes, strict=True)})
        for one, other in zip(results, tvmq.reference.run(mod, codes, function="quantized_main"), strict=True):
            np.testing.assert_array_equal(one, other)
        found.append((codes, results))
    return found


@pytest.mark.slow
@needs_gcc
def test_digits(digits: Digits, digits_core: tvm.IRModule, tmp_path: Path) -> None:
    export = tvmq.export_c(digits_core, tmp_path / "made", name="digits")
    assert sorted(p.name for p in export.source.parent.iterdir()) == ["digits.c", "digits.h"]
    samples = samples_of(digits_core, [{"image": digits.example.test[i : i + 1]} for i in range(4)])
    run = Native(export)
    for codes, wanted in samples:
        for one, other in zip(run(codes, wanted), wanted, strict=True):
            np.testing.assert_array_equal(one, other)
    again = tvmq.export_c(digits_core, tmp_path / "again", name="digits")
    assert again.source.read_bytes() == export.source.read_bytes(), "the same module gives the same bytes"


@pytest.mark.slow
@needs_gcc
def test_the_program_finds_a_wrong_value(digits: Digits, digits_core: tvm.IRModule, tmp_path: Path) -> None:
    export = tvmq.export_c(digits_core, tmp_path, name="digits")
    ((codes, wanted),) = samples_of(digits_core, [{"image": digits.example.test[:1]}])
    assert run_program(export, [(codes, wanted)], "gcc", ("-O1",)) == (10, 0)
    assert run_program(export, [(codes, [wanted[0] + np.eye(1, 10, 3, np.int32)])], "gcc", ("-O1",)) == (10, 1)


@pytest.mark.slow
@needs_gcc
def test_the_header_says_what_codes_mean(digits_core: tvm.IRModule, tmp_path: Path) -> None:
    """A caller who knows the header alone computes what the module computes, with C++ too."""
    export = tvmq.export_c(digits_core, tmp_path, name="digits")
    text = export.header.read_text()
    exe = tvmq.build(digits_core)
    (given,), (made,) = exe["quantized_main"].input_info, exe["quantized_main"].output_info
    found = dict(re.findall(r"#define DIGITS_(\w+) (\S+)", text))
    assert np.float32(found["IMAGE_SCALE"].rstrip("f")) == np.float32(given.scale)
    assert int(found["IMAGE_ZERO_POINT"]) == given.zero_point and int(found["IMAGE_SIZE"]) == 256
    assert int(found["ARENA_BYTES"]) == export.arena_bytes
    scales = re.search(r"_SCALES \{([^}]*)\}", text)
    assert scales is not None
    numbers = [np.float32(number.rstrip("f")) for number in re.findall(r"[\d.e+-]+f", scales.group(1))]
    assert numbers == list(np.float32(made.scale))
    assert "void digits_run(const uint8_t *image, int32_t *scores);" in text
    if shutil.which("g++"):
        main = tmp_path / "main.cpp"
        main.write_text('#include "digits.h"\nint main() { uint8_t x[256] = {}; int32_t y[10]; digits_run(x, y); }\n')
        done = subprocess.run(["g++", "-Wall", "-Werror", "-fsyntax-only", main], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@pytest.mark.slow
@needs_gcc
def test_loops_become_vectors(digits_core: tvm.IRModule, tmp_path: Path) -> None:
    """The inner loops of convolutions and of dense layers, as gcc says."""
    export = tvmq.export_c(digits_core, tmp_path, name="digits")
    command = ["gcc", "-std=c99", "-O3", "-fopt-info-vec-optimized", "-c", "-o", tmp_path / "a.o", export.source]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = {int(number) for number in re.findall(r"digits\.c:(\d+):", done.stderr)}
    text = export.source.read_text().splitlines()
    functions = [max(i for i in range(line) if text[i].startswith("static void")) for line in lines]
    names = {text[i].split("(")[0].split()[-1] for i in functions}
    assert {"add_row_u8_s8", "dense_u8_s8_s32"} <= names, names


@pytest.mark.slow
@needs_gcc
@pytest.mark.parametrize("name", ["dscnn_digits", "resnet8_cifar10", "crepe_tiny", "vit_cifar10", "mbconv_se_cifar10"])
def test_networks_of_the_zoo(zoo_task: Callable[[str], Any], name: str, tmp_path: Path) -> None:
    task = zoo_task(name)
    data = list(task.calibration(batch=1, limit=16))
    mod, params = tvmq.from_onnx(task.model_path, shape={key: value.shape for key, value in data[0].items()})
    more = {"integer_softmax": True, "integer_layer_norm": True, "residual_streams": "int16"} if "vit" in name else {}
    module = integral(mod, params, data, **more)
    inputs = task.test_inputs(batch=1)
    samples = samples_of(module, [next(inputs) for _ in range(2)])
    export = tvmq.export_c(module, tmp_path, name=name)
    assert run_program(export, samples, "gcc", ("-O1", *SANITIZED))[1] == 0


@pytest.mark.slow
@pytest.mark.parametrize("core", CORES)
def test_emulated_cores(core: str, digits: Digits, digits_core: tvm.IRModule, tmp_path: Path) -> None:
    """The C needs no library and gives equal bytes; the digits do not fit into the micro:bit's 16 kB of memory."""
    if CORES[core].missing:
        pytest.skip(f"{CORES[core].missing} is not installed")
    module, data = autoencoder()
    digits_feeds = [{"image": digits.example.test[i : i + 1]} for i in range(2)]
    for name, mod, feeds in (("digits", digits_core, digits_feeds), ("autoencoder", module, data[:2])):
        export = tvmq.export_c(mod, tmp_path / name, name=name)
        if core == "Cortex-M0" and name == "digits":
            assert export.arena_bytes > CORES[core].ram[1]
            continue
        outcome = run_on(CORES[core], export, samples_of(mod, feeds))
        assert outcome.values > 0 and outcome.differing == 0
        assert outcome.ram == export.arena_bytes and outcome.flash > export.constant_bytes


@pytest.mark.slow
def test_what_does_not_fit(digits_core: tvm.IRModule, tmp_path: Path) -> None:
    core = CORES["Cortex-M0"]
    if core.missing:
        pytest.skip(f"{core.missing} is not installed")
    x = np.zeros((1, 4, 64, 64), np.uint8)
    module = core_of({"x": x}, lambda _builder, p: [relax.op.nn.max_pool2d(relax.op.permute_dims(p, [0, 1, 3, 2]), 3)])
    export = tvmq.export_c(module, tmp_path)
    with pytest.raises(DoesNotFit, match="Cortex-M0: .*RAM"):
        run_on(core, export, [([x], tvmq.reference.run(module, [x], function="quantized_main"))])


# ---- the arena


@pytest.mark.slow
def test_plans_of_the_arena_keep_apart_what_is_needed_together() -> None:
    random = np.random.default_rng(0)
    for _ in range(30):
        storages = []
        for first in range(20):
            size, last = int(random.integers(1, 500)), first + int(random.integers(0, 5))
            storages.append(Storage(size, first_step=first, last_step=last))
        total = plan(storages)
        for number, a in enumerate(storages):
            assert a.offset % 8 == 0 and a.offset + a.size <= total
            for b in storages[:number]:
                together = a.first_step <= b.last_step and b.first_step <= a.last_step
                apart = a.offset + a.size <= b.offset or b.offset + b.size <= a.offset
                assert apart or not together


def test_results_take_the_place_of_their_operands(tmp_path: Path) -> None:
    """A chain of tables and sums in one array of 4000 bytes; the result is the caller's."""
    x = np.arange(4000, dtype=np.uint8).reshape(40, 100)
    flips = [relax.const(np.arange(255, -1, -1, dtype=np.uint8)) for _ in range(3)]

    def build(builder: relax.BlockBuilder, p: relax.Var) -> list[relax.Expr]:
        y = builder.emit(relax.op.flip(p, 0))
        for table in flips:
            y = builder.emit(ops.table(y, table, function="flip"))
            y = builder.emit(relax.op.maximum(y, builder.emit(relax.op.reshape(y, (40, 100)))))
        return [builder.emit(relax.op.flip(y, 1))]

    export = tvmq.export_c(core_of({"x": x}, build), tmp_path)
    assert export.arena_bytes == export.least_bytes == 4000


@pytest.mark.slow
@needs_gcc
def test_inputs_and_constants_as_results(tmp_path: Path) -> None:
    """An input as a result, a result that is given twice, and two results that share memory."""
    x = np.arange(24, dtype=np.int16).reshape(2, 3, 4)

    def build(builder: relax.BlockBuilder, p: relax.Var) -> list[relax.Expr]:
        y = builder.emit(relax.op.flip(p, 2))
        return [p, y, builder.emit(relax.op.reshape(y, (6, 4))), builder.emit(relax.op.flip(y, 0))]

    module = core_of({"x": x}, build)
    export = tvmq.export_c(module, tmp_path)
    wanted = tvmq.reference.run(module, [x], function="quantized_main")
    for one, other in zip(Native(export)([x], wanted), wanted, strict=True):
        np.testing.assert_array_equal(one, other)
    compile_c("gcc", [export.source], tmp_path / "alone.o", ["-c", "-ffreestanding", "-O2"])


@needs_gcc
def test_names_that_c_has_for_itself(tmp_path: Path) -> None:
    """Words of C, names that the code uses inside, letters that C lacks, names of layers that would end a comment."""
    x = np.arange(24, dtype=np.uint8).reshape(4, 6)
    inputs = dict.fromkeys(("p0", "p1", "p2", "p3"), x)

    def build(builder: relax.BlockBuilder, *p: relax.Var) -> list[relax.Expr]:
        first = builder.emit(relax.op.maximum(p[0], p[1]), "layer")
        return [first, builder.emit(relax.op.minimum(builder.emit(relax.op.flip(p[2], 0)), p[3]))]

    module = core_of(inputs, build)
    func = module["quantized_main"]
    func = func.with_attr("tvmq.inputs", json.dumps(["y", "Y", "class", "\u753b\u50cf"]))
    func = func.with_attr("tvmq.outputs", json.dumps(["a0", "arena"]))
    names = {"layer": ["*/ int x; /* ??/", "back\\slash", "\u753b\u50cf\u753b"]}
    module["quantized_main"] = func.with_attr("tvmq.names", json.dumps(names))
    export = tvmq.export_c(module, tmp_path)
    declared = re.search(r"void model_run\((.*)\);", export.header.read_text())
    assert declared is not None
    assert [part.split("*")[1] for part in declared.group(1).split(", ")] == [
        "y", "Y_1", "class_1", "__", "a0", "arena",
    ]  # fmt: skip
    wanted = tvmq.reference.run(module, [x, x[::-1], x, x[:, ::-1]], function="quantized_main")
    for one, other in zip(Native(export)([x, x[::-1], x, x[:, ::-1]], wanted), wanted, strict=True):
        np.testing.assert_array_equal(one, other)


# ---- what is refused


@pytest.mark.slow
def test_refusals(digits: Digits, digits_core: tvm.IRModule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = (
        (StageError, "export_c: expects the module that tvmq.quantize returns. Got str instead", "model.onnx", {}),
        (StageError, "export_c: the module is 'realized' and in one function; quantize with qconfig", digits.quantized, {}),
        (StageError, "export_c: the module is 'imported' and in one function; quantize", digits.mod, {}),
        (ConfigError, "export_c: name must be letters, .* and no word of C. Got 'a-b'", digits_core, {"name": "a-b"}),
        (ConfigError, "export_c: name must be .* Got 'while'", digits_core, {"name": "while"}),
    )  # fmt: skip
    for error, message, module, options in refused:
        with pytest.raises(error, match=f"^{message}"):
            tvmq.export_c(module, tmp_path / "none", **options)
    assert not (tmp_path / "none").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(
        OutputError, match="^export_c: cannot write in '.*file.*': .*; choose another folder or make room"
    ):
        tvmq.export_c(digits_core, tmp_path / "file" / "folder")
    with pytest.raises(OutputError, match="choose another folder"):
        monkeypatch.setattr("os.replace", _full)
        tvmq.export_c(digits_core, tmp_path / "full")
    assert not list((tmp_path / "full").iterdir())


def _full(*_paths: Any) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.slow
def test_floats_are_named(digits: Digits, tmp_path: Path) -> None:
    with tvmq.qconfig(**QUICKLY, partition_conversions="enabled"):
        module = tvmq.quantize(digits.mod, digits.params, {"image": digits.example.calibration[:4]}, guard=None)
    with pytest.raises(IntegralError, match="^export_c, layer '.*onv.*': tvmq.requantize in float32 is no integer; "):
        tvmq.export_c(module, tmp_path)
    x = np.zeros((2, 3), np.float32)
    with pytest.raises(IntegralError, match=r"^export_c: the core takes 'x' in float32, sizes \(2, 3\); quantize with"):
        tvmq.export_c(core_of({"x": x}, lambda _builder, p: [p]), tmp_path)


FORMLESS: dict[str, tuple[Any, Callable[..., Any]]] = {
    "cumsum has no equivalent in C": (np.int32([[1, 2]]), lambda x: relax.op.cumsum(x, 1)),
    "image.resize2d with method linear": (
        np.zeros((1, 1, 4, 4), np.uint8), lambda x: relax.op.image.resize2d(x, (8, 8), layout="NCHW", method="linear")
    ),
    "nn.pad with a negative width": (np.zeros((4, 4), np.uint8), lambda x: relax.op.nn.pad(x, [-1, 0, 0, 0])),
    "take with mode nan": (np.zeros((4, 4), np.uint8), lambda x: relax.op.take(x, x, 0, mode="nan")),
    "a pool in layout NHWC": (np.zeros((1, 4, 4, 2), np.uint8), lambda x: relax.op.nn.max_pool2d(x, 2, layout="NHWC")),
    "a convolution whose weight is computed": (
        np.zeros((1, 1, 4, 4), np.uint8), lambda x: relax.op.nn.conv2d(x, x, out_dtype="int32")
    ),
    "a transposed convolution whose weight is computed": (
        np.zeros((1, 1, 4), np.uint8),
        lambda x: ops.conv_transpose(x, x, strides=[1], padding=[0, 0], output_padding=[0], dilation=[1]),
    ),
    "tvmq.table with computed values": (np.zeros(256, np.uint8), lambda x: ops.table(x, x, function="t")),
}  # fmt: skip


@pytest.mark.parametrize("message", FORMLESS)
def test_operators_without_a_form_are_named(message: str, tmp_path: Path) -> None:
    array, call = FORMLESS[message]
    module = core_of({"x": array}, lambda builder, x: [builder.emit(call(x), "odd")])
    with pytest.raises(
        UnsupportedOpError, match=f"^export_c, layer 'odd': {re.escape(message)}.*; keep this layer out of"
    ):
        tvmq.export_c(module, tmp_path)
    assert not list(tmp_path.iterdir())


def test_dynamic_sizes_are_named(tmp_path: Path) -> None:
    net = Net((1, 3, 8, 8))
    model = net.model(net.op("Relu", net.conv("x", 3, 4)))
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    del model.graph.value_info[:], model.graph.output[0].type.tensor_type.shape.dim[:]
    module = integral(*tvmq.from_onnx(model), [{"x": np.ones((1, 3, 8, 8), np.float32)}])
    with pytest.raises(
        ModelError, match=r"^export_c: axis 0 of input 'x' has the dynamic size 'batch'; .* shape=\.\.\.\)$"
    ):
        tvmq.export_c(module, tmp_path)
