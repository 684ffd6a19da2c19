"""Shapes that the command line gives to a model's inputs."""

import numpy as np
import onnx
import pytest

from tests.support.models.onnx_models import make_model
from tvmq.errors import ConfigError, ModelError
from tvmq.tools.cli.model import choose_shapes, import_model, parse_shapes


@pytest.mark.parametrize("text", ["", "x", "=1,2", "=", "x=1,,2", "x=0", "x=-1", "x=a", "x=1.5"])
def test_bad_shapes(text):
    with pytest.raises(ConfigError, match="is not NAME=D0,D1"):
        parse_shapes([text])


@pytest.mark.parametrize("own, given, data, batch, expected", [
    ((None, 3), (), (64, 3), 1, (1, 3)),
    ((None, 3), (), (64, 3), 4, (4, 3)),
    ((8, 3), (), (64, 3), 1, (8, 3)),  # the model's own batch
    ((None, None), (), (64, 7), 1, (1, 7)),
    ((None, None), (), None, 1, (1, None)),  # stays dynamic without data
    ((None, 3), (2, 3), (64, 3), 1, (2, 3)),
    (None, (), (64, 5), 1, (1, 5)),  # unknown rank
    ((), (), (), 1, ()),  # a scalar
    ((), (), (64,), 1, ()),
    ((None, 3, 4), (), (64, 3), 1, (1, 3, 4)),  # data of another rank: left to the data check
])  # fmt: skip
def test_choice_of_shapes(own, given, data, batch, expected):
    shapes = choose_shapes({"x": own}, {"x": given} if given else {}, {"x": data} if data else {}, batch)
    assert shapes == {"x": expected}


@pytest.fixture
def model(tmp_path):
    """y = relu(x) with a dynamic batch, as a file."""
    node = onnx.helper.make_node("Relu", ["x"], ["y"], name="/act/Relu")
    path = tmp_path / "m.onnx"
    onnx.save(make_model([node], {"x": ["batch", 3]}, ["y"], opset=17), path)
    return path


def test_import_fixes_the_batch_and_says_so(model, samples, capsys):
    mod, params, arrays, size = import_model(model, samples, [], 1)
    assert size == 1 and params == {} and np.array_equal(arrays["x"], np.load(samples)["x"])
    assert [int(d) for d in mod["main"].params[0].ty.shape] == [1, 3]
    assert "x (1, 3)" in capsys.readouterr().err


@pytest.mark.parametrize("rank_known, given", [(True, []), (True, ["t="]), (False, ["t="])])
def test_scalars(tmp_path, rank_known, given):
    """y = t * x, t of rank 0 before x, or of unknown rank and --shape says so."""
    inputs = {"t": ("float32", [] if rank_known else None), "x": ["n", 3]}
    path, data = tmp_path / "m.onnx", tmp_path / "d.npz"
    onnx.save(make_model([onnx.helper.make_node("Mul", ["t", "x"], ["y"])], inputs, ["y"], opset=17), path)
    np.savez(data, t=np.float32(2), x=np.ones((5, 3), np.float32))
    mod, _, arrays, size = import_model(path, data, given, 1, quiet=True)
    assert [len(p.ty.shape) for p in mod["main"].params] == [0, 2] and size == 1 and arrays["t"].shape == ()


def test_import_without_data_and_with_a_shape(model, capsys):
    _, _, arrays, size = import_model(model, None, ["x=4,3"], 1, quiet=True)
    assert arrays is None and size == 4
    assert capsys.readouterr().err == ""


def test_a_shape_for_an_unknown_input(model):
    with pytest.raises(ModelError, match="'z'"):
        import_model(model, None, ["z=1,3"], 1)


@pytest.mark.parametrize("content", [None, b"", b"not a model"])
def test_files_that_are_no_model(cli, samples, tmp_path, content):
    path = tmp_path / "bad.onnx"
    if content is not None:
        path.write_bytes(content)
    result = cli("quantize", path, "--data", samples, "-o", tmp_path / "m.tvmq", "-q")
    assert result.code == 1
    assert "bad.onnx" in result.err and result.err.count("\n") == 1
    assert not (tmp_path / "m.tvmq").exists()


def test_a_folder_as_a_model(cli, samples, tmp_path):
    result = cli("quantize", tmp_path, "--data", samples)
    assert result.code == 1 and result.err == f"tvmq: model: '{tmp_path}' is a folder; name the .onnx file in it\n"


@pytest.mark.slow
def test_a_torch_program_has_its_shapes(tmp_path, monkeypatch):
    """Inputs and batch are those of the export; the data belong to them."""
    torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')
    path, samples = tmp_path / "model.pt2", tmp_path / "samples.npz"
    torch.export.save(torch.export.export(torch.nn.Linear(3, 2), (torch.zeros(4, 3),)), str(path))
    np.savez(samples, input=np.zeros((8, 3), np.float32))
    with pytest.raises(ModelError, match="can run code of whoever wrote it"):
        import_model(path, samples, [], 1)
    monkeypatch.setattr("tvmq.tools.cli.model.is_trusted", lambda: True)
    mod, params, arrays, size = import_model(path, samples, [], 1)
    assert size == 4 and arrays is not None and arrays["input"].shape == (8, 3)
    assert [str(p.ty.shape) for p in mod["main"].params] == ["R.shape([4, 3])", "R.shape([2, 3])", "R.shape([2])"]
    assert list(params) == ["weight", "bias"]
    with pytest.raises(ConfigError, match="a .pt2 program has the shapes of its export"):
        import_model(path, None, ["input=1,3"], 1)
