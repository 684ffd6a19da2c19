"""The constants behind `#[metadata]`: TVM's JSON of a node graph, arrays as base64.

    {"root": 1, "nodes": [...], "b64ndarrays": [...], "attrs": {"tvm_version": ...}}

Node 0 is null. The root is a map: `keys` (type keys such as "relay.Constant"), `data` (indices of arrays of nodes). A
relay.Constant's `attrs.data` is an index into b64ndarrays, each the base64 of one little-endian record: a magic
number, device, rank, element type, shape, bytes.

Tests: tests/relay/test_text.py
"""

from __future__ import annotations

import base64
import binascii
import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from tvmq.errors import ModelError

CONSTANT = "relay.Constant"
MAGIC = 0xDD5E40F096B4A13F
HEAD = struct.Struct("<QQiiiBBH")  # magic, reserved, device type and number, rank, kind, bits, lanes
KINDS = {0: "int", 1: "uint", 2: "float"}
DLPACK_KINDS = {"i": 0, "u": 1, "f": 2, "b": 1}
# The version of TVM whose form this is: that of the last with Relay
FORM = "0.19.0"


def write_record(array: np.ndarray) -> bytes:
    """An array as TVM's record; booleans are uint1 of one byte.

    >>> len(write_record(np.zeros((2, 3), "float32"))) - 6 * 4
    56
    """
    array = np.ascontiguousarray(array)
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    bits = 1 if array.dtype == bool else 8 * array.dtype.itemsize
    head = HEAD.pack(MAGIC, 0, 1, 0, array.ndim, DLPACK_KINDS[array.dtype.kind], bits, 1)
    sizes = struct.pack(f"<{array.ndim + 1}q", *array.shape, array.nbytes)
    return head + sizes + array.tobytes()


def read_record(data: bytes) -> np.ndarray:
    """The array of a record.

    raises  ValueError if it is none, is cut off, or has elements that NumPy lacks

    >>> read_record(write_record(np.array([[1, -2]], "int8")))
    array([[ 1, -2]], dtype=int8)
    """
    if len(data) < HEAD.size:
        raise ValueError(f"{len(data)} bytes are no record of an array")
    magic, _, _, _, rank, kind, bits, lanes = HEAD.unpack_from(data)
    if magic != MAGIC or lanes != 1 or kind not in KINDS or not 0 <= rank <= 32:
        raise ValueError(f"no record of an array: magic {magic:#x}, {rank} dimensions, element kind {kind} x {lanes}")
    if len(data) < HEAD.size + 8 * (rank + 1):
        raise ValueError("the record of an array is cut off in its shape")
    *shape, size = struct.unpack_from(f"<{rank + 1}q", data, HEAD.size)
    dtype = np.dtype("bool" if bits == 1 else f"{KINDS[kind]}{bits}").newbyteorder("<")
    start = HEAD.size + 8 * (rank + 1)
    if min(shape, default=0) < 0 or size != int(np.prod(shape)) * dtype.itemsize or len(data) < start + size:
        raise ValueError(
            f"a record says {size} bytes for shape {tuple(shape)} {dtype.name}; it has {len(data) - start}"
        )
    values = np.frombuffer(data, dtype, int(np.prod(shape)), start).reshape(shape)
    return values.astype(dtype.newbyteorder("="))


def read_metadata(text: str, name: str = "from_string") -> dict[str, list[Any]]:
    """{type key: its entries}: arrays for "relay.Constant", {attribute: text} for all others.

    raises  ModelError if the text is no such JSON

    >>> read_metadata(write_metadata([np.arange(2, dtype="int8")]))
    {'relay.Constant': [array([0, 1], dtype=int8)]}
    """
    try:
        graph = json.loads(text)
        nodes, root = graph["nodes"], graph["nodes"][graph["root"]]
        arrays = [read_record(base64.b64decode(item)) for item in graph.get("b64ndarrays", [])]
        groups = zip(root["keys"], (nodes[index]["data"] for index in root["data"]), strict=True)
        return {key: [_entry(nodes[index], arrays) for index in group] for key, group in groups}
    except (ValueError, KeyError, IndexError, TypeError, binascii.Error, OverflowError) as error:
        raise ModelError(
            f"parse, {name}: the metadata section cannot be read ({type(error).__name__}: {error}); "
            "take the text as astext() wrote it"
        ) from error


def write_metadata(constants: Sequence[np.ndarray]) -> str:
    """The JSON of constants, in order; `meta[relay.Constant][i]` names them."""
    first = 3
    indices = list(range(first, first + len(constants)))
    nodes: list[dict[str, Any]] = [
        {"type_key": ""},
        {"type_key": "Map", "keys": [CONSTANT], "data": [2]},
        {"type_key": "Array", "data": indices},
    ]
    for number in range(len(constants)):
        attrs = {"_checked_type_": "0", "data": str(number), "span": "0", "virtual_device_": "0"}
        nodes.append({"type_key": CONSTANT, "attrs": attrs})
    records = [base64.b64encode(write_record(np.asarray(array))).decode() for array in constants]
    graph = {"root": 1, "nodes": nodes, "b64ndarrays": records, "attrs": {"tvm_version": FORM}}
    return json.dumps(graph, indent=2)


def _entry(node: dict[str, Any], arrays: Sequence[np.ndarray]) -> Any:
    """An array, or the attributes of any other node as they are written."""
    if node["type_key"] == CONSTANT:
        return arrays[int(node["attrs"]["data"])]
    return {"type_key": node["type_key"], **node.get("attrs", {})}
