"""A Relax module as bytes and back: its structure as JSON, its constants as plain bytes beside it.

TVM's JSON holds constants in base64, a third larger than they are and slow to read. Tables of which rows are taken are
half of a language model, and the code holds them as they are: they are read from there.

A model that runs needs none of this, and what knows our operators is loaded when the module is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import tvm
from tvm import relax

from tvmq.artifact.code_bytes import BYTECODE, CONSTANTS, MODULE
from tvmq.errors import ArtifactError
from tvmq.text import last_line
from tvmq.tvm_internals import decode_tensor, encode_tensor, tensor_nodes

LARGE_TABLE = 4096  # bytes
# The "data" of a node that holds a constant is [begin, end] in the constants instead of base64, or
# [begin, end, BYTECODE] in the code.


def module_to_bytes(mod: tvm.IRModule, code: bytes = b"") -> dict[str, bytes]:
    """{MODULE: JSON, CONSTANTS: bytes}; the same bytes for the same module and code.

    code    the member BYTECODE of the same file
    """
    tables = _tables(mod)
    graph = json.loads(tvm.ir.save_json(mod))
    constants = bytearray()
    for node in tensor_nodes(graph):
        value, begin = decode_tensor(node["data"]), len(constants)
        # TVM writes a constant with the same few bytes in front of it in both places
        place = code.find(value) if any(map(value.endswith, tables)) else -1
        if place >= 0:
            node["data"] = [place, place + len(value), BYTECODE]
            continue
        constants += value
        node["data"] = [begin, len(constants)]
    return {MODULE: json.dumps(graph, separators=(",", ":")).encode(), CONSTANTS: bytes(constants)}


def _tables(mod: tvm.IRModule) -> list[bytes]:
    """The large constants of which rows are taken, packed ones as they are."""
    from tvmq.graph.view import const_value, is_const, op_name

    found = []
    for func in (func for _, func in mod.functions_items() if isinstance(func, relax.Function)):
        values = {b.var.name: b.value for block in func.body.blocks for b in block.bindings}
        for call in (value for value in values.values() if op_name(value) == "take"):
            table = values.get(call.args[0].name) if isinstance(call.args[0], relax.Var) else call.args[0]
            table = table.args[0] if table is not None and op_name(table) == "tvmq.unpack" else table
            if table is not None and is_const(table):
                found.append(const_value(table).tobytes())
    return [table for table in found if len(table) >= LARGE_TABLE]


def module_from_bytes(where: str, blobs: Mapping[str, bytes]) -> tvm.IRModule:
    """What `module_to_bytes` gave, as a module.

    where    begins the message
    raises   ArtifactError if TVM cannot read it
    """
    from tvmq.graph import ops as _ops  # noqa: F401  registers the operators that the JSON names

    try:
        graph = json.loads(blobs[MODULE])
        for node in tensor_nodes(graph):
            begin, end, *member = node["data"]
            node["data"] = encode_tensor(blobs[member[0] if member else CONSTANTS][begin:end])
        return tvm.ir.load_json(json.dumps(graph))
    except Exception as error:  # TVM raises many kinds
        reason = last_line(error)
        raise ArtifactError(f"{where}: TVM cannot read '{MODULE}' ({reason}); save it again") from error
