"""Version 2 of KServe's inference protocol in JSON: https://kserve.github.io/website/docs/concepts/architecture/data-plane

    POST /v2/models/NAME/infer
    {"id": "7", "inputs": [{"name": "x", "shape": [1, 2], "datatype": "FP32", "data": [1, 2]}]}

Numbers are exact both ways: a float32 is written with as many digits as give its bits back. Data may be nested or flat.

Tests: tests/integrations/serving/test_inference_protocol.py
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from tvmq.errors import DataError
from tvmq.runtime.inputs import TensorInfo

# KServe's name -> NumPy's
DATATYPES = {
    "BOOL": "bool", "FP16": "float16", "FP32": "float32", "FP64": "float64",
    **{f"{kind.upper()}{bits}": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
}  # fmt: skip
NAMES = {numpy_name: name for name, numpy_name in DATATYPES.items()}
ANY = -1  # a dynamic size


def describe_model(name: str, version: str, inputs: Sequence[TensorInfo], outputs: Sequence[TensorInfo]) -> (
    dict[str, Any]
):  # fmt: skip
    """Metadata of a model.

    >>> described = describe_model("net", "1", [TensorInfo("x", ("n", 3), "float32")], [])
    >>> described["inputs"]
    [{'name': 'x', 'datatype': 'FP32', 'shape': [-1, 3]}]
    """
    tensors = [[_describe_tensor(info) for info in infos] for infos in (inputs, outputs)]
    return {"name": name, "versions": [version], "platform": "tvmq", "inputs": tensors[0], "outputs": tensors[1]}


def _describe_tensor(info: TensorInfo) -> dict[str, Any]:
    shape = [size if isinstance(size, int) else ANY for size in info.shape]
    return {"name": info.name, "datatype": NAMES.get(info.dtype, info.dtype), "shape": shape}


def read_request(body: bytes) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The inputs of a request by name, and the request itself.

    raises   DataError naming what is missing or does not fit
    """
    try:
        request = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise DataError(f"serve: the body is no JSON ({error})") from error
    tensors = request.get("inputs") if isinstance(request, dict) else None
    if not isinstance(tensors, list) or not tensors:
        raise DataError('serve: the request has no "inputs"; send {"inputs": [{"name", "shape", "datatype", "data"}]}')
    return dict(map(_read_tensor, tensors)), request


def _read_tensor(tensor: Any) -> tuple[str, np.ndarray]:
    known = tensor if isinstance(tensor, dict) else {}
    missing = [key for key in ("name", "shape", "datatype", "data") if key not in known]
    if missing:
        raise DataError(f'serve: an input lacks "{missing[0]}"; it has name, shape, datatype and data')
    name, shape = str(tensor["name"]), tensor["shape"]
    dtype = DATATYPES.get(str(tensor["datatype"]))
    if dtype is None:
        raise DataError(f"serve: input '{name}' has the datatype {tensor['datatype']!r}; use {', '.join(DATATYPES)}")
    try:
        array = _array_of(tensor["data"], dtype)
        return name, array.reshape([int(size) for size in shape])
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise DataError(
            f"serve: data of input '{name}' are no {tensor['datatype']} of shape {shape} ({error})"
        ) from error


def _array_of(data: Any, dtype: str) -> np.ndarray:
    """Numbers as an array of this type. raises ValueError for those that it does not hold"""
    # NumPy takes a mixture of large and small whole numbers for floats
    array = _whole_numbers(data) if dtype == "uint64" else np.asarray(data)
    kinds = {"b": "b", "f": "fiu", "i": "iu", "u": "iu"}[np.dtype(dtype).kind]
    if array.size and array.dtype.kind not in kinds:
        raise ValueError(f"they are {array.dtype}")
    converted = array.astype(dtype)
    if np.dtype(dtype).kind in "iu" and not np.array_equal(converted, array):
        raise ValueError(f"{dtype} does not hold them")
    return converted


def _whole_numbers(data: Any) -> np.ndarray:
    """Whole numbers up to those of uint64. raises ValueError and OverflowError for others"""
    array = np.array(data, object)
    if any(type(value) is not int for value in array.ravel()):
        raise ValueError("they are no whole numbers")
    return array.astype(np.uint64)


def write_response(
    name: str, version: str, infos: Sequence[TensorInfo], results: Sequence[np.ndarray], request: dict[str, Any]
) -> bytes:
    """The answer to a request, with the outputs that it names, or all.

    raises   DataError for an output that the model does not have
    """
    named = {info.name: array for info, array in zip(infos, results, strict=True)}
    wanted = request.get("outputs") or [{"name": one} for one in named]
    names = [str(one.get("name") if isinstance(one, dict) else one) for one in wanted]
    unknown = [one for one in names if one not in named]
    if unknown:
        raise DataError(f"serve: the model has no output {unknown[0]!r}, it has {', '.join(named)}")
    outputs = [
        {
            "name": one, "datatype": NAMES[str(named[one].dtype)], "shape": list(named[one].shape),
            "data": named[one].ravel().tolist(),
        }
        for one in names
    ]  # fmt: skip
    own_id = {"id": request["id"]} if "id" in request else {}
    return json.dumps({"model_name": name, "model_version": version, **own_id, "outputs": outputs}).encode()
