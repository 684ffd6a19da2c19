"""`tvmq quantize --tflite`, `--tosa`: the options that they require, and the files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import tvmq
from tests.training.small_network import samples, small_network
from tvmq.errors import ConfigError
from tvmq.tools.cli.formats import Formats

QUICKLY = ("--calibrate-mode", "minmax", "--weight-rounding", "nearest", "--no-bias-correction",
           "--no-outlier-channels", "--guard", "none", "--no-bench", "--no-compare")  # fmt: skip


@pytest.mark.parametrize("name", ["tflite", "tosa"])
def test_a_file_beside_the_executable(cli, name: str, tmp_path: Path) -> None:
    pytest.importorskip({"tflite": "tflite", "tosa": "tosa_serializer"}[name], reason=f"pip install 'tvmq[{name}]'")
    onnx.save(small_network(), tmp_path / "net.onnx")
    np.savez(tmp_path / "data.npz", x=samples(8))
    made, output = tmp_path / f"net.{name}", tmp_path / "net.tvmq"
    done = cli("quantize", tmp_path / "net.onnx", "--data", tmp_path / "data.npz", *QUICKLY, f"--{name}", made,
               "-o", output)  # fmt: skip
    assert done.code == 0, done.err
    assert f"exported   {made} (" in done.out
    assert made.read_bytes()[4:8] == {"tflite": b"TFL3", "tosa": b"TOSA"}[name]
    assert "quantized_main" in {var.name_hint for var in tvmq.load(output).module.get_global_vars()}


def test_backends_and_options() -> None:
    both = Formats(tflite=Path("a"), tosa=Path("b"))
    assert Formats(onnx=Path("a")).backend(None) is None and Formats(tosa=Path("a")).backend(None) == "tosa"
    assert both.backend("tflite") == "tflite"
    with pytest.raises(ConfigError, match="--tflite and --tosa round differently, and a model has only one arithmetic"):
        both.backend(None)
    config = tvmq.QConfig()
    assert Formats(onnx=Path("a")).with_required_options(config) is config
    assert both.with_required_options(config).partition_conversions == "fully_integral"
