"""The files beside a library: the header, the facts as JSON, a program in C.

Tests: tests/library/test_export_library.py
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tvmq.base.text import c_comment, c_float
from tvmq.library.interface import Interface
from tvmq.library.runtime_object import read_source
from tvmq.version import __version__


def header_text(interface: Interface) -> str:
    """NAME.h: the header of all libraries with the names of this one."""
    text = with_prefix(read_source("model.h"), interface.name).replace('"model"', f'"{interface.name}"', 1)
    tensors = [
        (f"{kind} {number}", tensor)
        for kind, tensors in (("input", interface.inputs), ("output", interface.outputs))
        for number, tensor in enumerate(tensors)
    ]
    sizes = enumerate(interface.dimensions)
    lines = [f"   size {number}: {one.name}, {one.range_text()}" for number, one in sizes]
    lines += [f"   {place}: {tensor['name']}, {tensor['dtype']} {list(tensor['shape'])}" for place, tensor in tensors]
    lines += [f"   state: {line}" for line in state_lines(interface)]
    comment = "\n".join(c_comment(line) for line in lines)
    macros = "".join(line for place, tensor in tensors for line in _scale_macros(interface.name, place, tensor))
    text = text.replace(" */\n#ifndef", f"\n\n{comment} */\n#ifndef", 1)
    return text.replace("\n#ifdef __cplusplus", f"{macros}\n#ifdef __cplusplus", 1)


def state_lines(interface: Interface) -> Iterator[str]:
    """Which output a program hands to the next call as which input, and what that is before the first call."""
    inputs, outputs = ([tensor["name"] for tensor in side] for side in (interface.inputs, interface.outputs))
    for one in interface.states:
        first = one.encode(np.full(1, one.pair.initial, np.float32)).item()
        begin = "without rows, which each call appends" if one.is_appended else f"every element {first:g}"
        yield (
            f"output {outputs.index(one.pair.output)} is input {inputs.index(one.name)} of the next call; before the "
            f"first one {begin}"
        )


def _scale_macros(name: str, place: str, tensor: Mapping[str, Any]) -> Iterator[str]:
    """Scales of one a channel, which NAME_tensor has no room for, of codes that the library takes or gives.

    >>> sums = {"dtype": "int32", "scale": [0.5, 0.25], "zero_point": [0, 0]}
    >>> print("".join(_scale_macros("net", "output 0", sums)), end="")
    #define NET_OUTPUT_0_SCALES {0.5f, 0.25f} /* of channels */
    #define NET_OUTPUT_0_ZERO_POINT 0
    """
    scales = np.ravel(tensor.get("scale") or ())
    if len(scales) > 1 and np.dtype(tensor["dtype"]).kind in "iu":
        own = f"#define {name.upper()}_{place.upper().replace(' ', '_')}"
        yield f"{own}_SCALES {{{', '.join(map(c_float, scales))}}} /* of channels */\n"
        yield f"{own}_ZERO_POINT {int(np.ravel(tensor['zero_point'])[0])}\n"


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
