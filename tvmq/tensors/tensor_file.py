"""Files of a quantized tensor: .npz, or .safetensors by the package of that name.

Both hold the codes as `codes`, and a JSON text with the version of the schema and the scales: the array `document` of
bytes, or the metadata `tvmq`.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import numpy as np

from tvmq.base.array_file import UNREADABLE, ArrayFile
from tvmq.base.foreign_errors import clause, needs_extra
from tvmq.base.whole_file import write_file
from tvmq.errors import ArtifactError, ConfigError, TvmqError
from tvmq.numerics.spec import QParams

SCHEMA_VERSION = 1
Tensor = TypeVar("Tensor")


def write_tensor(path: str | os.PathLike[str], codes: np.ndarray, qparams: QParams) -> None:
    """Write codes and scales in the form that the suffix names; ConfigError for another one, OutputError."""
    pack, _ = _form_of(path)
    text = json.dumps({"schema_version": SCHEMA_VERSION, "qparams": qparams.to_dict()}, sort_keys=True)
    write_file(path, pack(np.ascontiguousarray(codes), text), "QTensor")


def read_tensor(path: str | os.PathLike[str], make: Callable[[np.ndarray, QParams], Tensor]) -> Tensor:
    """The tensor that `write_tensor` wrote; ArtifactError for a file that is missing, damaged or another one."""
    _, unpack = _form_of(path)
    where = f"QTensor: {str(path)!r}"
    if not Path(path).is_file():
        raise ArtifactError(f"{where} is not there; QTensor.save writes it")
    try:
        codes, text = unpack(Path(path))
        document = json.loads(text)
        version = document["schema_version"]
        if version != SCHEMA_VERSION:
            raise ArtifactError(f"{where} has schema version {version}, this tvmq reads {SCHEMA_VERSION}; save it anew")
        return make(codes, QParams.from_dict(document["qparams"]))
    except ArtifactError:
        raise
    except (TvmqError, TypeError, *UNREADABLE) as error:
        raise ArtifactError(f"{where} is damaged, or no quantized tensor{clause(error)}; save it anew") from error


def _pack_npz(codes: np.ndarray, text: str) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, codes=codes, document=np.frombuffer(text.encode(), np.uint8))
    return buffer.getvalue()


def _unpack_npz(path: Path) -> tuple[np.ndarray, str]:
    file = ArrayFile(path)
    return file["codes"], file["document"].tobytes().decode()


def _pack_safetensors(codes: np.ndarray, text: str) -> bytes:
    with needs_extra("QTensor", "safetensors", "safetensors"):
        from safetensors.numpy import save
    packed: bytes = save({"codes": codes}, metadata={"tvmq": text})
    return packed


def _unpack_safetensors(path: Path) -> tuple[np.ndarray, str]:
    with needs_extra("QTensor", "safetensors", "safetensors"):
        from safetensors import SafetensorError, safe_open
    try:
        with safe_open(str(path), framework="np") as file:
            return file.get_tensor("codes"), (file.metadata() or {})["tvmq"]
    except SafetensorError as error:
        raise ValueError(str(error)) from error


Form = tuple[Callable[[np.ndarray, str], bytes], Callable[[Path], tuple[np.ndarray, str]]]
FORMS: Mapping[str, Form] = {
    ".npz": (_pack_npz, _unpack_npz),
    ".safetensors": (_pack_safetensors, _unpack_safetensors),
}


def _form_of(path: str | os.PathLike[str]) -> Form:
    suffix = Path(path).suffix
    if suffix not in FORMS:
        raise ConfigError(f"QTensor: the file must end in {' or '.join(FORMS)}. Got {str(path)!r} instead")
    return FORMS[suffix]
