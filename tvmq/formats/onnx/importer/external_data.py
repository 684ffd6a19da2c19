"""External data of an ONNX model: tensors stored in files beside it, read from one given folder only.

Any tensor may name a file: weights, attributes of nodes (Constant), sparse weights, and tensors of subgraphs, functions
and training graphs. A path out of the folder, also through a symbolic link, is refused, and so is anything but a
regular file (pipes, devices).

Tests: tests/formats/onnx/importer/test_load.py
"""

from __future__ import annotations

import math
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tvmq.base.memory import check_size
from tvmq.base.regular_file import check_regular
from tvmq.base.text import printable
from tvmq.errors import ModelError

if TYPE_CHECKING:
    import onnx

PACKED = {"UINT4": 4, "INT4": 4, "FLOAT4E2M1": 4, "UINT2": 2, "INT2": 2}  # bits of an element


def tensors_of(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """All tensors of a model, in any place."""
    graphs = [model.graph]
    for training in model.training_info:
        graphs += [training.initialization, training.algorithm]
    nodes = [node for function in model.functions for node in function.node]
    while graphs or nodes:
        if graphs:
            graph = graphs.pop()
            yield from graph.initializer
            for sparse in graph.sparse_initializer:
                yield from (sparse.values, sparse.indices)
            nodes += graph.node
            continue
        for attribute in nodes.pop().attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
            if attribute.HasField("g"):
                graphs.append(attribute.g)
            graphs += attribute.graphs
            sparse_tensors = [attribute.sparse_tensor] if attribute.HasField("sparse_tensor") else []
            for sparse in [*sparse_tensors, *attribute.sparse_tensors]:
                yield from (sparse.values, sparse.indices)


def load_external(model: onnx.ModelProto, folder: Path | None, where: str, max_bytes: int) -> None:
    """Read all external tensors (in place).

    folder   where their files are; None: none is read
    where    the model, for messages
    raises   ModelError for an external tensor without a folder, a file that is missing or too short, and a path out
             of the folder; MemoryLimitError for a tensor larger than max_bytes
    """
    for tensor in tensors_of(model):
        if tensor.data_location != tensor.EXTERNAL:
            continue
        name = printable(tensor.name) or "of a Constant"
        if folder is None:
            raise ModelError(
                f"from_onnx: '{where}' stores tensor '{name}' in an external file; pass the path of the .onnx "
                "file instead, or folder= with the folder of these files"
            )
        try:
            tensor.raw_data = _read(tensor, folder, max_bytes)
        except (OSError, ValueError) as error:
            raise ModelError(
                f"from_onnx: the external data of tensor '{name}' of '{where}' cannot be read: {_cause(error)}; "
                "keep the data files beside the model"
            ) from error
        tensor.ClearField("external_data")
        tensor.data_location = tensor.DEFAULT


def _read(tensor: onnx.TensorProto, folder: Path, max_bytes: int) -> bytes:
    """The bytes of one tensor; raises ValueError or OSError with the reason."""
    from onnx import helper

    entries = {entry.key: entry.value for entry in tensor.external_data}
    dtype = str(helper.tensor_dtype_to_np_dtype(tensor.data_type))
    if any(size < 0 for size in tensor.dims):
        raise ValueError(f"its shape {list(tensor.dims)} has a negative size")
    check_size(list(tensor.dims), dtype, max_bytes, f"from_onnx, tensor '{printable(tensor.name)}'")
    offset, needed = _read_number(entries, "offset", 0), _byte_count(tensor)
    length = _read_number(entries, "length", needed)
    if length != needed:
        raise ValueError(f"its entry says {length} bytes, but its shape {list(tensor.dims)} takes {needed}")
    path = _resolve_location(entries.get("location", ""), folder)
    check_regular(path)
    size = path.stat().st_size
    if offset + needed > size:
        raise ValueError(f"'{path.name}' has {size} bytes, but {offset + needed} are needed")
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(needed)


def _byte_count(tensor: onnx.TensorProto) -> int:
    """Bytes of a tensor's data; types of 4 and 2 bits are packed."""
    from onnx import TensorProto, helper

    bits = PACKED.get(TensorProto.DataType.Name(tensor.data_type))
    count = math.prod(tensor.dims)
    return -(-count * bits // 8) if bits else count * helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize


def _read_number(entries: dict[str, str], key: str, default: int) -> int:
    text = entries.get(key, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise ValueError(f"its {key} '{printable(text)}' is not a number of bytes")
    return int(text)


def _resolve_location(location: str, folder: Path) -> Path:
    """The file that a tensor names, which must be a regular file inside of the folder."""
    shown = printable(location)
    if not location or "\0" in location:
        raise ValueError(f"'{shown}' is not a file name")
    path = folder / location
    real, root = path.resolve(), folder.resolve()
    if Path(location).is_absolute() or ".." in Path(location).parts or not real.is_relative_to(root):
        raise ValueError(f"'{shown}' is outside of the model's folder")
    if not stat.S_ISREG(real.stat().st_mode):
        raise ValueError(f"'{shown}' is not a regular file")
    return real


def _cause(error: Any) -> str:
    if isinstance(error, FileNotFoundError):
        return f"there is no file '{printable(str(error.filename))}'"
    return str(error.strerror if isinstance(error, OSError) and error.strerror else error).rstrip(".;")
