"""A Relax module as bytes and back: its structure as JSON, its constants as plain bytes beside it.

TVM's JSON holds constants in base64, a third larger than they are and slow to read. What the code of the same file
holds as it is, tables and biases, is read from there; so are weights that it holds packed, where packing only moves
them: they are put back in order when the module is asked for.

A model that runs needs none of this, and what knows our operators is loaded when the module is asked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import tvm

from tvmq.base.text import last_line
from tvmq.base.tvm_internals import decode_tensor, encode_tensor, tensor_nodes
from tvmq.codegen.kernels.parts.packing_recipes import digest, restore_weights
from tvmq.errors import ArtifactError
from tvmq.runtime.artifact.code_bytes import BYTECODE, CONSTANTS, MODULE
from tvmq.runtime.artifact.module_checks import check_module, check_nodes
from tvmq.runtime.artifact.shared_constants import LEAST, Known, Recipe, tensors

# The "data" of a node that holds a constant is, in place of base64,
#   [begin, end]                             its bytes in the constants
#   [begin, end, BYTECODE]                   its bytes in the code
#   [begin, end, BYTECODE, head, recipe]     packed weights in the code, and what TVM writes in front of the weights


def module_to_bytes(mod: tvm.IRModule, code: bytes = b"", recipes: Known | None = None) -> dict[str, bytes]:
    """{MODULE: JSON, CONSTANTS: bytes}; the same bytes for the same module and code.

    code     the member BYTECODE of the same file
    recipes  how its weights were packed, `known` of PackingRecipes
    """
    graph = json.loads(tvm.ir.save_json(mod))
    held = _KnownConstants(code, recipes or {})
    constants = bytearray()
    for node in tensor_nodes(graph):
        value, begin = decode_tensor(node["data"]), len(constants)
        place = held.find(value)
        if place is None:
            constants += value
        node["data"] = place or [begin, len(constants)]
    return {MODULE: json.dumps(graph, separators=(",", ":")).encode(), CONSTANTS: bytes(constants)}


class _KnownConstants:
    """Constants that the code holds already, by the hash of what each is or was made of."""

    def __init__(self, code: bytes, recipes: Known) -> None:
        self.code = code
        self.places: dict[bytes, tuple[int, int]] = {}
        self.ways: dict[bytes, list[tuple[tuple[int, int], Recipe]]] = {}
        for place in tensors(code) if code else ():
            if place[1] - place[0] >= LEAST:
                known = digest(code[slice(*place)])
                self.places.setdefault(known, place)
                for made_of, recipe in recipes.get(known, ()):
                    if "winograd" not in recipe:
                        self.ways.setdefault(made_of, []).append((place, recipe))

    def find(self, value: bytes) -> list[Any] | None:
        """Where a constant is, as a node says it; None where the code has it not."""
        span = next(iter(tensors(value)), None)
        if span is None or not self.places:
            return None
        head, data = value[: span[0]], value[slice(*span)]
        known = digest(data)
        begin, end = self.places.get(known, (0, 0))
        # TVM writes a constant with the same few bytes in front of it in both places
        if end and self.code[begin - len(head) : begin] == head:
            return [begin - len(head), end, BYTECODE]
        for place, recipe in self.ways.get(known, ()):
            if _restores(self.code[slice(*place)], recipe, data):
                return [*place, BYTECODE, head.hex(), recipe]
        return None


def _restores(packed: bytes, recipe: Recipe, wanted: bytes) -> bool:
    try:
        return restore_weights(packed, recipe) == wanted
    except Exception:  # an instruction set that does more than to move weights
        return False


def module_from_bytes(where: str, blobs: Mapping[str, bytes]) -> tvm.IRModule:
    """Module of the bytes that `module_to_bytes` wrote.

    where    begins the message
    raises   ArtifactError if TVM cannot read it
    """
    from tvmq.graph import ops as _ops  # noqa: F401  registers the operators that the JSON names

    try:
        graph = json.loads(blobs[MODULE])
        check_nodes(graph)
        for node in tensor_nodes(graph):
            node["data"] = encode_tensor(_constant(blobs, *node["data"]))
        module = tvm.ir.load_json(json.dumps(graph))
        check_module(module)
        return module
    except Exception as error:  # TVM raises many kinds
        reason = last_line(error)
        unknown = re.search(r"Operator relax\.(\S+) is not registered", reason)
        if unknown:
            raise ArtifactError(
                f"{where}: its module has the operator '{unknown[1]}', which nobody has made in this process; "
                "import the package that does (tvmq.extension.operator), on the command line by `tvmq --trust ...`"
            ) from error
        raise ArtifactError(f"{where}: TVM cannot read '{MODULE}' ({reason}); save it again") from error


def _constant(blobs: Mapping[str, bytes], begin: int, end: int, member: str = CONSTANTS, *packed: Any) -> bytes:
    """Bytes of the constant of a node, as TVM writes it."""
    data = blobs[member][begin:end]
    if not packed:
        return data
    head, recipe = packed
    return bytes.fromhex(head) + restore_weights(data, recipe)
