"""KServe's JSON: exact numbers both ways, and a sentence for each thing that does not fit."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tvmq.errors import DataError
from tvmq.integrations.serving.inference_protocol import DATATYPES, describe_model, read_request, write_response
from tvmq.runtime.inputs import TensorInfo

INFOS = [TensorInfo("y", (1, 3), "float32"), TensorInfo("n", (1,), "int64")]


def request(**changes):
    tensor = {"name": "x", "shape": [2, 2], "datatype": "FP32", "data": [1, 2, 3, 4], **changes}
    return json.dumps({"inputs": [{key: value for key, value in tensor.items() if value is not None}]}).encode()


@pytest.mark.parametrize("datatype", DATATYPES)
def test_numbers_are_exact_both_ways(datatype):
    dtype = np.dtype(DATATYPES[datatype])
    bits = np.random.default_rng(0).integers(0, 256, 64 * dtype.itemsize, np.uint8)
    values = (bits % 2).astype(bool) if dtype.kind == "b" else bits.view(dtype)
    values = values[np.isfinite(values)]
    info = TensorInfo("y", values.shape, dtype.name)
    (output,) = json.loads(write_response("m", "1", [info], [values], {}))["outputs"]
    feed, _ = read_request(json.dumps({"inputs": [{**output, "name": "x"}]}).encode())
    assert feed["x"].dtype == dtype and feed["x"].tobytes() == values.tobytes()


def test_data_may_be_nested():
    feed, _ = read_request(request(data=[[1, 2], [3, 4]]))
    np.testing.assert_array_equal(feed["x"], np.float32([[1, 2], [3, 4]]))


@pytest.mark.parametrize(("body", "message"), [
    (b"no json", "the body is no JSON"), (b"[" * 100000, "the body is no JSON"), (b"[]", 'has no "inputs"'), (b"{}", 'has no "inputs"'),
    (b'{"inputs": [3]}', 'an input lacks "name"'), (request(data=None), 'an input lacks "data"'),
    (request(datatype="BYTES"), "has the datatype 'BYTES'; use BOOL"), (request(shape=[3]), r"no FP32 of shape \[3\]"),
    (request(shape="ab"), "of shape ab"), (request(data=["a"] * 4), "they are <U1"), (request(data=[[1], [2, 3]]), "no FP32"),
    (request(datatype="INT8", data=[1, 2, 3, 400]), "int8 does not hold them"), (request(datatype="UINT8", data=[-1, 2, 3, 4]), "uint8 does not"),
    (request(datatype="INT8", data=[1.5, 2, 3, 4]), "they are float64"), (request(datatype="BOOL"), "they are int64"),
    (request(datatype="INT32", data=[2**80] * 4), "they are object"),
])  # fmt: skip
def test_what_does_not_fit(body, message):
    with pytest.raises(DataError, match=message):
        read_request(body)


def test_outputs_that_are_asked_for():
    results = [np.float32([[1, 2, 3]]), np.int64([7])]
    answer = json.loads(write_response("m", "1", INFOS, results, {"id": "a", "outputs": [{"name": "n"}]}))
    assert answer == {
        "model_name": "m", "model_version": "1", "id": "a",
        "outputs": [{"name": "n", "datatype": "INT64", "shape": [1], "data": [7]}],
    }  # fmt: skip
    assert [one["name"] for one in json.loads(write_response("m", "1", INFOS, results, {}))["outputs"]] == ["y", "n"]
    with pytest.raises(DataError, match="the model has no output 'z', it has y, n"):
        write_response("m", "1", INFOS, results, {"outputs": [{"name": "z"}]})
    assert describe_model("m", "1", [], INFOS)["outputs"][0] == {"name": "y", "datatype": "FP32", "shape": [1, 3]}
