"""A small saved model, the same file with other contents, and the sentence that refuses it."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import parse, text_of
from tvmq.codegen.target.cpu import resolve_target
from tvmq.errors import ArtifactError
from tvmq.runtime.artifact import native_library as native
from tvmq.runtime.artifact.container import MANIFEST

SMALL = text_of('x: R.Tensor((8,), "float32"), w: R.Tensor((8,), "float32")', "y = R.multiply(x, w)\nz = R.exp(y)")
RESHAPE = text_of('x: R.Tensor((8,), "float32")', "y = R.reshape(x, (2, 4))")
W, X = np.linspace(-1, 1, 8, dtype=np.float32), np.arange(8, dtype=np.float32)
linux = pytest.mark.skipif(not native.is_linux_x86(resolve_target()), reason="shared libraries are for Linux")


def small() -> tvmq.Executable:
    """A model of one kernel and one constant."""
    return tvmq.build(parse(SMALL, w=W))


def refused(path: Path, kind: type[Exception] = ArtifactError, **options: Any) -> str:
    """The sentence with which a file is refused."""
    with pytest.raises(kind) as caught:
        tvmq.load(path, **options)
    text = str(caught.value)
    assert text.startswith("load: ") and "\n" not in text and ";" in text
    return text


Change = Callable[[dict[str, bytes]], Any]


def remade(data: bytes, change: Change, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """The archive with other members: `change` edits {name: contents}, or gives others."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members = change(members) or members
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, blob in members.items():
            archive.writestr(name, blob)
    return buffer.getvalue()


def edited(data: bytes, place: str, value: Any) -> bytes:
    """The archive with one entry of the manifest changed: place is like "description.inputs.0.shape"."""

    def change(members: dict[str, bytes]) -> None:
        manifest = json.loads(members[MANIFEST])
        *path, last = [int(word) if word.isdigit() else word for word in place.split(".")]
        parent = manifest
        for word in path:
            parent = parent[word]
        if value is None:
            del parent[last]
        else:
            parent[last] = value
        members[MANIFEST] = json.dumps(manifest).encode()

    return remade(data, change)
