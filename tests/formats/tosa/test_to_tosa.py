"""Networks as TOSA: the reference model gives on the codes of the module what the definition gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from formats.exporting.formats_networks import FAST, NETWORKS, compared, quantized

import tvmq
from tvmq.errors import ConfigError, StageError, UnsupportedOpError
from tvmq.formats.tosa.graph import schema

SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in NETWORKS if name not in FAST]
needs_tosa = pytest.mark.skipif(
    __import__("importlib.util").util.find_spec("tosa_serializer") is None, reason="pip install --no-deps tosa-tools"
)


@pytest.mark.slow_cases("strided-tosa")
@needs_tosa
@pytest.mark.parametrize("target", ["tosa", pytest.param("cpu", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [*FAST, *SLOW])
def test_the_reference_model_agrees(name: str, target: str, tmp_path: Path) -> None:
    options = {} if target == "tosa" else {"requantize": "fixed_point"}
    check(*quantized(name, target, **options), tmp_path)


@needs_tosa
def test_two_roundings(tmp_path: Path) -> None:
    """TFLite's arithmetic is TOSA's with its extension for two roundings."""
    check(*quantized("strided", "tflite"), tmp_path)


def check(qmod: object, feeds: list[dict[str, np.ndarray]], folder: Path) -> None:
    """The reference model against the definition."""
    import tests.support.devices.tflite_runtimes as runtimes

    model = pytest.importorskip("tosa_reference_model", reason="pip install --no-deps tosa-tools")
    export = tvmq.to_tosa(qmod, folder / "model.tosa")
    data = export.path.read_bytes()
    for codes, wanted in compared(qmod, feeds, 2):
        given = [end.to_file(array) for end, array in zip(export.inputs, codes, strict=True)]
        with runtimes.silent():
            found, status = model.run(data, given)
        assert status == model.GraphStatus.TOSA_VALID
        for end, array, true in zip(export.outputs, found, wanted, strict=True):
            np.testing.assert_array_equal(end.from_file(array), true)


@needs_tosa
def test_codes_of_uint8_are_moved(tmp_path: Path) -> None:
    qmod, _ = quantized("plain", "cpu", requantize="fixed_point")
    export = tvmq.to_tosa(qmod, tmp_path / "model.tosa")
    (end,) = export.inputs
    assert (end.dtype, end.uint8_offset, end.order) == ("uint8", 128, (0, 2, 3, 1))
    assert end.to_file(np.full((1, 3, 8, 8), 255, np.uint8)).max() == 127
    assert export.operators == {"CONV2D": 2, "RESCALE": 1} and str(export).endswith("2 CONV2D, 1 RESCALE")


@needs_tosa
def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StageError, match="to_tosa: expects the module that tvmq.quantize returns. Got str instead"):
        tvmq.to_tosa("x", tmp_path / "x.tosa")
    qmod, _ = quantized("plain", "cpu", requantize="fixed_point", rounding="TONEAREST")
    with pytest.raises(UnsupportedOpError, match=r"to_tosa, layer '/conv_0.*rounded TONEAREST, has no equivalent in TOSA"):
        tvmq.to_tosa(qmod, tmp_path / "x.tosa")
    assert not list(tmp_path.iterdir())


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "tosa_serializer", None)
    with pytest.raises(
        ConfigError, match=r"to_tosa: the package 'tosa_serializer' is missing; pip install 'tvmq\[tosa\]'"
    ):
        schema()
