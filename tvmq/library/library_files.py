"""The files beside a library: the header, the facts as JSON, a program in C.

Tests: tests/library/test_export_library.py
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tvmq.base.text import c_comment
from tvmq.library.interface import Interface
from tvmq.library.runtime_object import read_source
from tvmq.version import __version__


def header_text(interface: Interface) -> str:
    """NAME.h: the header of all libraries with the names of this one."""
    text = with_prefix(read_source("model.h"), interface.name).replace('"model"', f'"{interface.name}"', 1)
    lines = [
        f"   size {number}: {one.name}, {one.least} to {one.most}" for number, one in enumerate(interface.dimensions)
    ] + [
        f"   {kind} {number}: {tensor['name']}, {tensor['dtype']} {list(tensor['shape'])}"
        for kind, tensors in (("input", interface.inputs), ("output", interface.outputs))
        for number, tensor in enumerate(tensors)
    ]
    comment = "\n".join(c_comment(line) for line in lines)
    return text.replace(" */\n#ifndef", f"\n\n{comment} */\n#ifndef", 1)


def with_prefix(text: str, name: str) -> str:
    """C text with the names of a model.

    >>> with_prefix("int model_run(MODEL_OK)", "digits")
    'int digits_run(DIGITS_OK)'
    """
    return re.sub(r"\bMODEL_", f"{name.upper()}_", re.sub(r"\bmodel_", f"{name}_", text))


def example_text(interface: Interface) -> str:
    """example.c."""
    text = with_prefix(read_source("example.c"), interface.name)
    return text.replace("model.h", f"{interface.name}.h").replace("lmodel", f"l{interface.name}")


def facts_text(interface: Interface, library: bytes, facts: Mapping[str, Any], undefined: Sequence[str]) -> str:
    """NAME.json."""
    entries = {
        "schema": 1,
        "name": interface.name,
        "tvmq": __version__,
        "model_hash": interface.model_hash,
        "code_hash": interface.code_hash,
        "bytes": len(library),
        **facts,
        "inputs": [dict(tensor) for tensor in interface.inputs],
        "outputs": [dict(tensor) for tensor in interface.outputs],
        "undefined": list(undefined),
    }
    return json.dumps(entries, indent=2) + "\n"
