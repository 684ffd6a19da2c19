"""`tvmq export-c`: from a saved model and from a float one, and refusals."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest

import tvmq
from tests.support.devices.c_harness import Native
from tests.training.small_network import samples, small_network
from tvmq.formats.c.export_c import CExport

QUICKLY = ("--calibrate-mode", "minmax", "--weight-rounding", "nearest", "--no-bias-correction", "--no-outlier-channels")


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """The float model, its data, and the saved integral model."""
    folder = tmp_path_factory.mktemp("network")
    onnx.save(small_network(), folder / "small-net.onnx")
    x = samples(8)
    np.savez(folder / "data.npz", x=x)
    options = {"calibrate_mode": "minmax", "weight_rounding": "nearest", "bias_correction": False}
    integral = {"requantize": "fixed_point", "partition_conversions": "fully_integral", "outlier_channels": False}
    with tvmq.qconfig(**options, **integral):
        mod, params = tvmq.from_onnx(folder / "small-net.onnx", shape={"x": (1, *x.shape[1:])})
        tvmq.build(tvmq.quantize(mod, params, [x[:1]], guard=None)).save(folder / "net.tvmq")
    return folder / "small-net.onnx", folder / "data.npz", folder / "net.tvmq"


def test_a_saved_model(cli, network, tmp_path):
    done = cli("export-c", network[2], "-o", tmp_path / "made", "--json", "--quiet")
    assert done.code == 0 and done.err == "", done.err
    facts = json.loads(done.out)
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == ["net.c", "net.h"]
    assert f"#define NET_ARENA_BYTES {facts['arena_bytes']} " in (tmp_path / "made" / "net.h").read_text()
    if shutil.which("gcc"):
        exe = tvmq.load(network[2])
        codes = exe["quantize_inputs"].run({"x": samples(1, seed=4)})
        wanted = exe["quantized_main"].run(dict(zip((i.name for i in exe["quantized_main"].input_info), codes, strict=True)))
        export = CExport(Path(facts["source"]), Path(facts["header"]), 0, 0, 0, 0)
        for one, other in zip(Native(export, flags=("-O1",))(codes, wanted), wanted, strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_float_model(cli, network, tmp_path):
    model, data, _ = network
    done = cli("export-c", model, "--data", data, *QUICKLY, "-o", tmp_path, "--rounding", "TONEAREST")
    assert done.code == 0, done.err
    text = (tmp_path / "small_net.c").read_text()
    assert "rescale_away(" in text and "void small_net_run(" in text
    assert "bytes of RAM; no plan needs less than" in done.out and "small_net_run" in done.out


def test_bad_input_gets_one_sentence(cli, network, tmp_path):
    model, data, saved = network
    half = tmp_path / "half.tvmq"
    assert cli("quantize", model, "--data", data, *QUICKLY, "--no-compare", "--no-bench", "-o", half, "-q").code == 0
    for arguments, sentence in (
        ((tmp_path / "none.tvmq",), "none.tvmq"),
        ((model,), "export-c: '.*small-net.onnx' is a float model; give samples with --data"),
        ((saved, "--data", data), "export-c: --data is for a float model; a saved model is quantized already"),
        ((half, "-q"), "half.tvmq' also computes in float; quantize it again with --partition-conversions fully_integral"),
        ((saved, "--name", "7"), "export_c: name must be letters, digits and '_' and no word of C. Got '7' instead"),
        ((model, "--data", data, *QUICKLY, "--rule", "*=float"), "fully_integral"),
    ):
        done = cli("export-c", *arguments, "-o", tmp_path / "out", "--quiet")
        assert done.code == 1 and not (tmp_path / "out").exists(), done.err
        assert pytest.importorskip("re").search(sentence, done.err), done.err
