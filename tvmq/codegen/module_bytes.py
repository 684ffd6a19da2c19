"""A Relax module as bytes and back: its structure as JSON, its constants as plain bytes beside it.

TVM's JSON holds constants in base64, a third larger than they are and slow to read.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping

import tvm

from tvmq.codegen.code_bytes import last_line
from tvmq.errors import ArtifactError
from tvmq.graph import ops as _ops  # noqa: F401  registers the operators that the JSON names

MODULE, CONSTANTS = "module.json", "constants.bin"
# Type of the nodes that hold a constant; their "data" is [begin, end] in the constants instead of base64.
TENSOR = "ffi.Tensor"


def module_to_bytes(mod: tvm.IRModule) -> dict[str, bytes]:
    """{MODULE: JSON, CONSTANTS: bytes}; the same bytes for the same module."""
    graph = json.loads(tvm.ir.save_json(mod))
    constants = bytearray()
    for node in graph["nodes"]:
        if node["type"] == TENSOR:
            begin = len(constants)
            constants += base64.b64decode(node["data"])
            node["data"] = [begin, len(constants)]
    return {MODULE: json.dumps(graph, separators=(",", ":")).encode(), CONSTANTS: bytes(constants)}


def module_from_bytes(where: str, blobs: Mapping[str, bytes]) -> tvm.IRModule:
    """What `module_to_bytes` gave, as a module.

    where    begins the message
    raises   ArtifactError if TVM cannot read it
    """
    try:
        graph = json.loads(blobs[MODULE])
        for node in graph["nodes"]:
            if node["type"] == TENSOR:
                begin, end = node["data"]
                node["data"] = base64.b64encode(blobs[CONSTANTS][begin:end]).decode()
        return tvm.ir.load_json(json.dumps(graph))
    except Exception as error:  # TVM raises many kinds
        reason = last_line(error)
        raise ArtifactError(f"{where}: TVM cannot read '{MODULE}' ({reason}); save it again") from error
