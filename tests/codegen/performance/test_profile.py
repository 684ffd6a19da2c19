"""The profile of a run: every call in its row, names of the source, figures that add up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tvm

import tvmq
from tests.support.models.networks import parse, text_of
from tvmq.codegen.kernels.parts.peak import peak
from tvmq.codegen.target.cpu import resolve_target
from tvmq.errors import ConfigError
from tvmq.runtime.profile_table import LayerTime, Profile

TWO_LAYERS = text_of(
    'x: R.Tensor((1, 8, 12, 12), "float32"), w: R.Tensor((16, 8, 3, 3), "float32")',
    "conv = R.nn.conv2d(x, w)\nrelu = R.nn.relu(conv)\nsine = R.sin(relu)\ny = R.cos(sine)",
    inputs=1,
)
DYNAMIC = """
# from tvm.script import ir as I
# from tvm.script import relax as R
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("batch", 6), "float32"), w: R.Tensor((6, 5), "float32")) -> R.Tensor(("batch", 5), "float32"):
        R.func_attr({"num_input": 1})
        batch = T.int64()
        with R.dataflow():
            y = R.matmul(x, w)
            R.output(y)
        return y
"""
SUMS = text_of(
    'x: R.Tensor((4, 20), "uint8"), w: R.Tensor((20, 4), "int8")', 'y = R.matmul(x, w, out_dtype="int32")', inputs=1
)
X = {"x": np.random.default_rng(0).random((1, 8, 12, 12)).astype(np.float32)}


def built(text: str, weight: tuple[int, ...], dtype: type = np.float32) -> tvmq.Executable:
    return tvmq.build(parse(text), params={"w": np.ones(weight, dtype)})


@pytest.fixture(scope="module")
def exe() -> tvmq.Executable:
    return built(TWO_LAYERS, (16, 8, 3, 3))


@pytest.mark.slow
def test_every_call_has_its_row_and_its_names(exe: tvmq.Executable) -> None:
    profile = exe.profile(X, repeat=3)
    named = [layer for row in profile.layers for layer in row.layers]
    assert {"conv", "relu", "sine", "y"} <= set(named)
    (product,) = [row for row in profile.layers if row.macs]
    assert (product.macs, product.dtype) == (100 * 16 * 8 * 9, "float32")
    assert "conv" in product.layers and product.kernels[0].startswith("conv2d_float")
    assert product.rate and product.of_peak and 0 < product.of_peak < 2
    assert profile.calls >= len(profile.layers) >= 2
    assert sum(map(profile.share, profile.layers)) == pytest.approx(1)


@pytest.mark.slow
def test_every_row_has_a_forecast(exe: tvmq.Executable) -> None:
    rows = exe.profile(X, repeat=1).layers
    assert all(row.forecast is not None and row.forecast >= 0 for row in rows)
    (product,) = [row for row in rows if row.macs]
    assert product.forecast and 1e-8 < product.forecast < 1e-3


@pytest.mark.slow
def test_sums_that_reach_memory_are_counted() -> None:
    codes = np.ones((4, 20), np.uint8)
    profile = built(SUMS, (20, 4), np.int8).profile({"x": codes}, repeat=1)
    assert profile.products == (1, 1)


def test_a_product_of_a_type_without_a_known_peak() -> None:
    text = SUMS.replace('"uint8"', '"int16"').replace('"int8"', '"int16"')
    (layer,) = built(text, (20, 4), np.int16).profile({"x": np.ones((4, 20), np.int16)}, repeat=1).layers
    assert (layer.dtype, layer.peak, layer.macs) == ("int16", None, 4 * 20 * 4)


@pytest.mark.slow
def test_layers_of_a_quantized_network_keep_their_sums() -> None:
    with tvmq.qconfig(calibrate_mode="global_scale"):
        quantized = tvmq.quantize(parse(TWO_LAYERS), {"w": np.ones((16, 8, 3, 3), np.float32)})
    assert tvmq.build(quantized).profile(X, repeat=1).products == (1, 0)


@pytest.mark.slow
def test_a_run_gives_the_same_after_a_profile(exe: tvmq.Executable) -> None:
    before = exe.run(X)
    exe.profile(X, repeat=2, threads=1)
    np.testing.assert_array_equal(exe.run(X)[0], before[0])


@pytest.mark.slow
def test_a_loaded_model_has_the_same_rows(exe: tvmq.Executable, tmp_path: Path) -> None:
    exe.save(tmp_path / "m.tvmq")
    rows = [(row.layers, row.kernels, row.macs) for row in tvmq.load(tmp_path / "m.tvmq").profile(X, repeat=1).layers]
    assert rows == [(row.layers, row.kernels, row.macs) for row in exe.profile(X, repeat=1).layers]


def test_a_dynamic_batch_counts_all_samples() -> None:
    profile = built(DYNAMIC, (6, 5)).profile({"x": np.ones((4, 6), np.float32)}, repeat=1)
    assert sum(row.macs for row in profile.layers) == 4 * 6 * 5


def test_counts_are_checked(exe: tvmq.Executable) -> None:
    with pytest.raises(ConfigError, match="profile: repeat must be an integer of at least 1. Got 0 instead"):
        exe.profile(X, repeat=0)


def test_profile_of_a_gpu_is_refused(exe: tvmq.Executable, monkeypatch: pytest.MonkeyPatch) -> None:
    from tvmq.codegen.target.cuda import cuda_target

    monkeypatch.setattr(exe._parts, "target", cuda_target({"kind": "cuda", "arch": "sm_80"}))
    with pytest.raises(ConfigError, match="only CPUs are profiled"):
        exe.profile(X)


def test_the_table_prints_and_becomes_json() -> None:
    rows = (
        LayerTime(("conv", "relu"), ("conv2d",), 3e-6, 6_000_000, "int8", 4e12, 2e-6, sums=True),
        LayerTime((), ("sin",), 1e-6, 0, "", None),
    )
    profile = Profile(rows, 5e-6, 2e-7, 3, 2, 20)
    lines = str(profile).splitlines()
    assert lines[1].split() == ["conv,", "relu", "conv2d", "3.0", "us", "2.0", "us", "75.0%", "6.00", "2000.0", "50%"]
    assert lines[2].split() == ["-", "sin", "1.0", "us", "25.0%"]
    assert lines[-2].startswith(
        "sum 4.0 us (forecast 2.0 us) of 3 calls; whole run 5.0 us, 1200.0 GMAC/s (2 threads, 20"
    )
    assert lines[-1] == "products of codes whose 32-bit sums reach memory: 1 of 1"
    figures = profile.to_dict()
    assert (figures["products"], figures["sums_in_memory"]) == (1, 1)
    assert figures["layers"][0]["of_peak"] == pytest.approx(0.5) and figures["layers"][1]["rate"] is None
    assert profile.slowest(1) == [rows[0]]


@pytest.mark.slow_cases("icelake-server-float32")
@pytest.mark.parametrize("dtype", ["int8", "float32"])
@pytest.mark.parametrize("cpu", ["x86-64", "haswell", "icelake-server"])
def test_the_loop_of_the_peak_compiles_for_every_level(cpu: str, dtype: str) -> None:
    target = resolve_target(f"llvm -mcpu={cpu}")
    loop = peak(target.isa, dtype)
    code = tvm.compile(tvm.IRModule({"peak": loop.kernel.func}), target.as_tvm())
    assert loop.macs % 1000 == 0 and code.mod is not None
