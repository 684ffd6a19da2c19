"""Running an executable: results, memory, threads, timing, and models for other CPUs."""

from __future__ import annotations

import gc
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tvm

import tvmq
from tests.support.models.networks import parse, text_of
from tvmq.base.cpus import ALLOWED_CPUS
from tvmq.codegen.target.cpu import resolve_target
from tvmq.errors import ConfigError, DataError, TargetError
from tvmq.runtime.inputs import TensorInfo
from tvmq.runtime.threads import with_threads
from tvmq.runtime.timing import Timing, measure

SEVERAL = text_of(
    'a: R.Tensor((2, 3), "float32"), b: R.Tensor((3,), "float32"), n: R.Tensor((4,), "int32")',
    "total = R.add(a, b)\nlargest = R.max(total, axis=[1])\ndouble = R.add(n, n)\nreturn (total, largest, double)",
)
PASSING = text_of(
    'x: R.Tensor((4,), "float32")', "y = R.reshape(x, (2, 2))\nz = R.reshape(x, (4, 1))\nreturn (x, y, z, y)"
)
SCALAR = text_of('x: R.Tensor((), "float32")', 'y = R.add(x, R.const(1.0, "float32"))\nreturn (y,)')
NOTHING = text_of('x: R.Tensor((2,), "float32")', "y = R.add(x, x)\nreturn R.tuple()")
A, B, N = np.float32([[1, 2, 3], [4, 5, 6]]), np.float32([10, 20, 30]), np.int32([1, 2, 3, 4])


@pytest.fixture(scope="module")
def several():
    """Three inputs and three outputs of several shapes and types."""
    return tvmq.build(parse(SEVERAL))


@pytest.mark.slow
def test_several_inputs_and_outputs(several):
    total, largest, double = several.run({"n": N, "b": B, "a": A})
    assert np.array_equal(total, A + B) and total.dtype == np.float32
    assert np.array_equal(largest, [33, 36]) and largest.shape == (2,)
    assert np.array_equal(double, 2 * N) and double.dtype == np.int32


@pytest.mark.slow
def test_call_takes_arrays_in_order(several, digits):
    for one, other in zip(several(A, B, N), several.run({"a": A, "b": B, "n": N}), strict=True):
        assert np.array_equal(one, other)
    picture = digits.example.test[:1]
    scores = digits.exe(picture)
    assert isinstance(scores, np.ndarray) and np.array_equal(scores, digits.exe.run({"image": picture})[0])
    with pytest.raises(DataError, match=r"2 arrays given, the model takes 3: \['a', 'b', 'n'\]"):
        several(A, B)


@pytest.mark.slow
def test_what_it_takes_and_gives(several, digits):
    assert [str(info) for info in several.input_info] == ["a float32[2, 3]", "b float32[3]", "n int32[4]"]
    assert several.output_info[1] == TensorInfo("output_1", (2,), "float32")
    (image,), (scores,) = digits.exe.input_info, digits.exe.output_info
    assert (image.name, image.shape, image.dtype) == ("image", (1, 1, 16, 16), "float32")
    assert 0 < image.scale < 0.1 and image.zero_point == 0
    assert (scores.name, scores.shape, scores.scale) == ("scores", (1, 10), None)


@pytest.mark.slow
def test_wrong_inputs_leave_the_executable_usable(several):
    with pytest.raises(DataError, match="no input 'c'.*"):
        several.run({"a": A, "b": B, "c": N})
    with pytest.raises(DataError, match="input 'n' is float64, the model takes int32"):
        several.run({"a": A, "b": B, "n": N / 2})
    assert np.array_equal(several(A, B, N)[0], A + B)


@pytest.mark.slow_cases("float64")
@pytest.mark.parametrize("change", [
    lambda x: x.astype(np.float64), lambda x: x.astype(">f4"), np.asfortranarray, lambda x: x.tolist(),
    lambda x: np.repeat(x, 2, axis=3)[..., ::2], lambda x: np.pad(x, 3)[3:-3, 3:-3, 3:-3, 3:-3],
    lambda x: np.frombuffer(b"?" + x.tobytes(), np.uint8)[1:].view(np.float32).reshape(x.shape),
], ids=["float64", "big-endian", "Fortran", "list", "strided", "offset", "unaligned"])  # fmt: skip
def test_any_memory_gives_the_same_bits(digits, change):
    for start in range(4):
        picture = digits.example.test[start : start + 1]
        assert np.array_equal(digits.exe(change(picture)), digits.exe(picture))


def test_integers_for_a_float_model(digits):
    picture = np.arange(256).reshape(1, 1, 16, 16) % 2
    assert np.array_equal(digits.exe(picture), digits.exe(picture.astype(np.float32)))


def test_nan_and_infinities(digits):
    picture = digits.example.test[:1].copy()
    picture[0, 0, 3, 4:6] = np.nan, np.inf
    clipped = picture.copy()
    info = digits.exe.input_info[0]
    clipped[0, 0, 3, 4:6] = -info.zero_point * info.scale, (255 - info.zero_point) * info.scale
    assert np.array_equal(digits.exe(picture), digits.exe(clipped))
    with pytest.raises(DataError, match=r"'image' holds 2 NaN or infinite .* first at \[0, 0, 3, 4\]"):
        digits.exe.run({"image": picture}, check_finite=True)


def test_results_are_fresh(digits):
    pictures = digits.example.test
    first = digits.exe(pictures[:1])
    kept = first.copy()
    second = digits.exe(pictures[1:2])
    assert not np.shares_memory(first, second) and not np.array_equal(first, second)
    assert np.array_equal(first, kept)
    first[...] = 99  # results belong to the caller
    assert np.array_equal(digits.exe(pictures[:1]), kept)


def test_results_that_are_inputs_are_copied():
    exe = tvmq.build(parse(PASSING))
    x = np.arange(4, dtype=np.float32)
    results = exe.run({"x": x})
    exe.run({"x": -x})
    x[...] = 7
    expected = np.arange(4, dtype=np.float32)
    assert [r.shape for r in results] == [(4,), (2, 2), (4, 1), (2, 2)]
    for result in results:
        assert np.array_equal(result.ravel(), expected)
    assert not any(np.shares_memory(a, b) for i, a in enumerate(results) for b in results[:i])


def test_a_scalar_in_a_tuple_of_one():
    exe = tvmq.build(parse(SCALAR))
    (y,) = exe.run({"x": np.float32(2)})
    assert y.shape == () and y == 3
    assert exe(41) == 42


def test_no_outputs():
    exe = tvmq.build(parse(NOTHING))
    assert exe.run({"x": B[:2]}) == [] and exe(B[:2]) == [] and exe.output_info == ()


@pytest.mark.slow
def test_results_outlive_the_executable():
    exe = tvmq.build(parse(SCALAR))
    result = exe(1.0)
    del exe
    gc.collect()
    assert result == 2


def test_threads_share_one_executable(digits):
    pictures = digits.example.test[:40]
    expected = [digits.exe(picture[None]) for picture in pictures]

    def run_all(start: int) -> bool:
        order = [(start + i) % len(pictures) for i in range(len(pictures))]
        return all(np.array_equal(digits.exe(pictures[i][None]), expected[i]) for i in order)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run_all, (0, 10, 20, 30)))


def test_an_error_does_not_keep_others_waiting(several):
    with pytest.raises(DataError):
        several.run({"a": A})
    done = threading.Event()
    threading.Thread(target=lambda: (several(A, B, N), done.set()), daemon=True).start()
    assert done.wait(30)


@pytest.mark.parametrize("threads", [None, 1, 2])
def test_benchmark(digits, threads):
    timing = digits.exe.benchmark(digits.pictures(1), repeat=7, threads=threads)
    assert timing.runs == 7
    assert 0 < timing.fastest <= timing.median <= timing.slowest < 10
    assert set(timing.to_dict()) == {"median", "fastest", "slowest", "runs"}


@pytest.mark.parametrize("threads", [1, 2, 1])
def test_threads_that_models_may_use(threads):
    if threads > len(ALLOWED_CPUS):
        pytest.skip("TVM uses no more threads than there are CPUs")
    before = tvm.runtime.num_threads()
    seen = []
    measure(lambda: seen.append(tvm.runtime.num_threads()), repeat=5, threads=threads)
    assert set(seen) == {threads} and len(seen) == 8  # three to warm up
    assert tvm.runtime.num_threads() == before


def test_results_do_not_depend_on_the_number_of_threads(digits):
    for picture in digits.example.test[:5]:
        alone = digits.exe(picture[None])
        for threads in (1, 2):
            assert np.array_equal(with_threads(threads, lambda p=picture: digits.exe(p[None])), alone)


@pytest.mark.parametrize("options, message", [
    ({"repeat": 0}, "repeat must be an integer of at least 1. Got 0"), ({"repeat": 2.5}, "Got 2.5"),
    ({"threads": 0}, "threads must be an integer of at least 1. Got 0"), ({"threads": "all"}, "Got 'all'"),
])  # fmt: skip
def test_counts_of_a_benchmark(several, options, message):
    with pytest.raises(ConfigError, match=f"benchmark: .*{message}"):
        several.benchmark({"a": A, "b": B, "n": N}, **options)


def test_errors_of_a_run_come_out_of_a_benchmark(several):
    for threads in (None, 2):
        with pytest.raises(DataError, match="input 'a' is missing"):
            several.benchmark({"b": B, "n": N}, threads=threads)


def test_an_interrupt_stops_the_measurement():
    calls = []

    def run() -> None:
        calls.append(1)
        if len(calls) == 5:
            raise KeyboardInterrupt

    for threads in (None, 1):
        calls.clear()
        with pytest.raises(KeyboardInterrupt):
            measure(run, repeat=1000, threads=threads)
        assert len(calls) == 5


def test_timing_prints():
    text = str(Timing(median=0.0021, fastest=0.002, slowest=0.01, runs=50))
    assert text == "median 2100.0 us, fastest 2000.0 us, slowest 10000.0 us of 50 runs"


def test_repr(several, digits):
    mcpu = digits.exe.target.mcpu
    tensors = "image float32[1, 1, 16, 16] -> scores float32[1, 10]"
    assert repr(digits.exe) == f"Executable({tensors}; integer, {mcpu})"
    tensors = "a float32[2, 3], b float32[3], n int32[4] -> output_0 float32[2, 3], output_1 float32[2]"
    assert repr(several) == f"Executable({tensors}, output_2 int32[4]; float, {mcpu})"


def test_names_kernels_and_ledger(digits):
    assert ("/stem/conv", "/stem/norm", "/stem/act") in digits.exe.names.values()
    assert any("conv2d" in kernel for kernel in digits.exe.kernels.values())
    assert digits.exe.ledger.stage == "realized"
    digits.exe.kernels.clear()
    digits.exe.ledger.layers.clear()
    assert digits.exe.kernels and digits.exe.ledger.layers  # what is given are copies


# bdver4 has XOP, which no later CPU has
@pytest.mark.slow_cases("architecture")
@pytest.mark.parametrize("target, lacking, remedy", [
    ("llvm -mcpu=bdver4", "bdver4 and needs .*xop", "the model here"),
    ("llvm -mtriple=aarch64-linux-gnu", "generic and needs the architecture aarch64", "the module in it here"),
], ids=["features", "architecture"])  # fmt: skip
def test_models_for_other_cpus_can_be_saved_but_not_run(target, lacking, remedy, tmp_path):
    if resolve_target().arch != "x86":
        pytest.skip("the other CPUs are others than x86")
    exe = tvmq.build(parse(PASSING), target=target)
    with pytest.raises(TargetError, match=f"run: the model was built for {lacking}.*, which this CPU lacks"):
        exe(B)
    with pytest.raises(TargetError, match="was built for"):
        tvmq.verify(exe, np.zeros((4,), np.float32))
    exe.save(tmp_path / "other.tvmq")
    with pytest.raises(TargetError, match=f"load: '.*other.tvmq' was built for .*; build {remedy}"):
        tvmq.load(tmp_path / "other.tvmq")
