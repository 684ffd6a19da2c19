"""`tvmq compare` on real files, in this process."""

import json

import numpy as np
import onnx
import pytest

import tvmq
from tests.support.models.networks import Net, feeds_of


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """model.onnx with a dynamic batch, model.tvmq, samples.npz."""
    folder = tmp_path_factory.mktemp("compare")
    net = Net((1, 3))
    model = net.model(net.dense(net.op("Relu", net.dense("x", 3, 4)), 4, 2))
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    del model.graph.value_info[:]
    onnx.save(model, folder / "model.onnx")
    samples = np.concatenate([feed["x"] for feed in feeds_of(Net((1, 3)).model(), 6)])
    np.savez(folder / "samples.npz", x=samples)
    tvmq.build(tvmq.quantize(*tvmq.from_onnx(model), samples)).save(folder / "model.tvmq")
    return folder


@pytest.mark.slow
def test_float_beside_integers(cli, files):
    command = ("compare", files / "model.onnx", files / "model.tvmq", "--data", files / "samples.npz")
    result = cli(*command)
    assert result.code == 0
    lines = result.out.splitlines()
    assert [word for word in lines[0].split()] == ["local", "accumulated", "weight"]
    assert [line.split()[0] for line in lines[2:5]] == ["x", "/{gemm_0,", "/gemm_2"]
    assert lines[5].startswith("output gemm_2_out0") and "6 samples" in lines[-1]
    assert "compare ..." in result.err
    worst = cli(*command, "--worst", 1, "--by", "accumulated", "--samples", 2, "--quiet")
    assert len(worst.out.splitlines()) == 6 and "2 samples" in worst.out and worst.err == ""


@pytest.mark.slow
def test_json(cli, files):
    model = files / "model.onnx"
    result = json.loads(cli("compare", model, model, "--data", files / "samples.npz", "--json").out)
    assert result["samples"] == 6 and len(result["layers"]) == 3
    assert all(layer["local"]["cosine"] == 1.0 for layer in result["layers"])


def test_what_cannot_be_compared_is_one_sentence(cli, files, tmp_path):
    other = Net((1, 5))
    onnx.save(other.model(other.dense("x", 5, 2)), tmp_path / "other.onnx")
    result = cli("compare", tmp_path / "other.onnx", files / "model.tvmq", "--data", files / "samples.npz", "-q")
    assert result.code == 1 and result.out == ""
    assert result.err.startswith("tvmq: ") and len(result.err.splitlines()) == 1
