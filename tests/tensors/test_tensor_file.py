"""Files of quantized tensors: what comes back, and what is refused."""

import io
import json

import numpy as np
import pytest
from hypothesis import given

from tests.numerics.strategies import quick
from tests.tensors.strategies import qtensors
from tvmq.errors import ArtifactError, ConfigError, OutputError
from tvmq.numerics.spec import QParams, QuantSpec
from tvmq.tensors.qtensor import QTensor

HALF = QTensor(np.uint8([[1, 2]]), QParams(0.5, 3, QuantSpec()))


@quick
@given(qtensors())
def test_what_is_read_is_what_was_written(tmp_path_factory, q):
    path = tmp_path_factory.mktemp("q") / "q.npz"
    q.save(path)
    other = QTensor.load(path)
    assert other.qparams == q.qparams and other.dtype == q.dtype
    np.testing.assert_array_equal(other.codes, q.codes)


def test_safetensors(tmp_path):
    numpy = pytest.importorskip("safetensors.numpy")
    path = tmp_path / "q.safetensors"
    HALF.T.save(path)
    other = QTensor.load(path)
    assert other.qparams == HALF.qparams and np.array_equal(other.codes, [[1], [2]])
    np.testing.assert_array_equal(numpy.load_file(path)["codes"], [[1], [2]])
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ArtifactError, match="is damaged, or no quantized tensor"):
        QTensor.load(path)


def test_safetensors_is_an_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "safetensors.numpy", None)
    with pytest.raises(ConfigError, match=r'safetensors cannot be imported .*; install it with pip install "tvmq\[safe'):
        HALF.save(tmp_path / "q.safetensors")


def test_suffix_and_place(tmp_path):
    with pytest.raises(ConfigError, match=r"QTensor: the file must end in .npz or .safetensors. Got '.*q.pt' instead"):
        HALF.save(tmp_path / "q.pt")
    with pytest.raises(ArtifactError, match="q.npz' is not there; QTensor.save writes it"):
        QTensor.load(tmp_path / "q.npz")
    with pytest.raises(OutputError, match="QTensor: cannot write"):
        HALF.save(tmp_path / "no" / "q.npz")


def npz(document, **arrays):
    buffer = io.BytesIO()
    np.savez(buffer, document=np.frombuffer(document.encode(), np.uint8), **arrays)
    return buffer.getvalue()


QPARAMS = HALF.qparams.to_dict()


@pytest.mark.parametrize("content", [
    b"",
    b"PK nothing",
    npz("{}", codes=HALF.codes),
    npz("[1]", codes=HALF.codes),
    npz("{", codes=HALF.codes),
    npz(json.dumps({"schema_version": 1, "qparams": QPARAMS})),
    npz(json.dumps({"schema_version": 1, "qparams": QPARAMS}), codes=HALF.codes.astype(np.int8)),
    npz(json.dumps({"schema_version": 1, "qparams": QPARAMS | {"scale": -1.0}}), codes=HALF.codes),
    npz(json.dumps({"schema_version": 1, "qparams": QPARAMS | {"spec": 3}}), codes=HALF.codes),
])  # fmt: skip
def test_damaged_files(tmp_path, content):
    path = tmp_path / "q.npz"
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match="q.npz' is damaged, or no quantized tensor.*; save it anew"):
        QTensor.load(path)


def test_another_version(tmp_path):
    path = tmp_path / "q.npz"
    path.write_bytes(npz(json.dumps({"schema_version": 2}), codes=HALF.codes))
    with pytest.raises(ArtifactError, match="has schema version 2, this tvmq reads 1; save it anew"):
        QTensor.load(path)
