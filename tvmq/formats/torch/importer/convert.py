"""Conversion of a decomposed ExportedProgram to Relax, one node at a time: our repairs first, else TVM's converters.

Tests: tests/formats/importing/test_importers.py
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from tvm import relax
from tvm.ir import GenericConst

from tvmq.base.foreign_errors import clause
from tvmq.errors import TvmqError, UnsupportedOpError
from tvmq.formats.importing.assemble import ConvertedModel, ConvertedNode
from tvmq.formats.importing.importers import TORCH_NAMESPACES, check_result, own_torch_importer, own_torch_name
from tvmq.formats.torch.importer.constants import FoldedConstants
from tvmq.formats.torch.importer.repairs import UNSUPPORTED, TorchCall, load_repair
from tvmq.formats.torch.importer.signature import (
    LayerNames,
    ProgramWeights,
    collect_outputs,
    function_name,
    input_variables,
)

if TYPE_CHECKING:
    import torch

# Checks of what the shapes say already, and marks without a value
CHECKS = frozenset(
    "_assert_async.default _assert_async.msg _assert_scalar.default _assert_tensor_metadata.default "
    "sym_constrain_range.default sym_constrain_range_for_size.default".split()
)


def convert(program: torch.export.ExportedProgram, states: Collection[str] = ()) -> ConvertedModel:
    """All nodes as bindings grouped by layer, see ConvertedModel.

    states  buffers that the model writes, which become inputs and outputs
    raises UnsupportedOpError naming the layer, its operator, and what to do.
    """
    return _TorchImporter(program, states).run()


class _TorchImporter:
    """State of one import: TVM's importer (builder, value of every node), the steps so far."""

    def __init__(self, program: torch.export.ExportedProgram, states: Collection[str]) -> None:
        from tvm.relax.frontend.torch.exported_program_translator import ExportedProgramImporter

        self.program, self.states = program, states
        self.tvm = ExportedProgramImporter()
        self.tvm.block_builder = self.builder = relax.BlockBuilder()
        weights = ProgramWeights(program)
        self.constants = FoldedConstants()
        self.env: dict[Any, Any] = self.tvm.env
        self.inputs = input_variables(program, self.tvm, states)
        by_name = {var_name: var for var_name, _, var in self.inputs}
        for node in program.graph.find_nodes(op="placeholder"):
            node.meta["tvmq.target"] = weights.targets.get(node.name, "")
            if node.name in by_name:
                self.env[node] = by_name[node.name]
            elif node.users and node.name in weights.targets:
                self.env[node] = weights.constant(node.name)
                self.constants.add_tensor(node, weights.tensor(node.name))
        self.nodes = [node for node in program.graph.nodes if node.op not in ("placeholder", "output")]
        self.names = LayerNames(self.nodes)
        self.weights: dict[GenericConst, str] = weights.names

    def run(self) -> ConvertedModel:
        self._refuse_unknown()
        inputs = [(name, var) for _, name, var in self.inputs]
        self.builder.begin_scope([var for _, var in inputs])
        try:
            steps = [self._step(group) for group in self._groups()]
            results = collect_outputs(self.program, self.env, self.states)
        finally:
            self.builder.end_scope()
        return ConvertedModel(self.builder.get(), inputs, steps, results, self.weights, stage="from_torch")

    def _groups(self) -> list[list[Any]]:
        """Neighbouring nodes of one call of a layer."""
        groups: list[list[Any]] = []
        for node in self.nodes:
            if groups and self.names.key(groups[-1][-1]) == self.names.key(node):
                groups[-1].append(node)
            else:
                groups.append([node])
        return groups

    def _step(self, group: list[Any]) -> ConvertedNode:
        layer = self.names(group[-1])
        self.builder._begin_binding_block()
        try:
            for node in group:
                self._convert(node, layer)
        finally:
            block = self.builder._end_block()
        own = {binding.var for binding in block.bindings}
        results = [self.env.get(node) for node in group]
        results = [value for value in results if isinstance(value, relax.Var) and value in own]
        return ConvertedNode(
            layer, layer, function_name(group[-1]), list(block.bindings), results[-1] if results else None
        )

    def _convert(self, node: Any, layer: str) -> None:
        name = _operator(node)
        if name in CHECKS:
            return
        if node.op == "get_attr":
            raise UnsupportedOpError(
                f"from_torch, layer '{layer}': control flow is not supported; export the model without it"
            )
        if self.constants.fold(node):
            self.env[node] = self.constants.relax_value(node)
            return
        call = TorchCall(node, layer, name, self.tvm)
        try:
            own = own_torch_importer(name)
            if own is not None:
                result = check_result(call, own(call))
                self.env[node] = tuple(map(call.emit, result)) if isinstance(result, tuple) else call.emit(result)
                return
            repair = load_repair(name)
            value = repair(call) if repair else None
            if value is None:
                value = self.tvm.convert_map[name](node)
            self.env[node] = call.emit(value)
        except TvmqError:
            raise
        except Exception as error:  # TVM's converters raise anything
            raise UnsupportedOpError(
                f"from_torch, layer '{layer}': operator {name} cannot be imported{clause(error)}; write this "
                "layer with simpler operators, or run it outside of the model"
            ) from error

    def _refuse_unknown(self) -> None:
        """Refuse the first node without an import; the message lists the other operators."""
        unknown = [node for node in self.nodes if node.op == "call_function" and not self._can_import(_operator(node))]
        if not unknown:
            return
        first, name = unknown[0], _operator(unknown[0])
        others = sorted({_operator(node) for node in unknown} - {name})
        more = f" (nor are {', '.join(others)})" if others else ""
        way_out = "write this layer with simpler operators, or run it outside of the model"
        schema, namespace = getattr(first.target, "_schema", None), getattr(first.target, "namespace", "aten")
        if schema is not None and namespace not in TORCH_NAMESPACES:
            way_out = f'register @tvmq.extension.torch_importer("{schema.name}"), or {way_out}'
        reason = UNSUPPORTED.get(name, way_out)
        raise UnsupportedOpError(
            f"from_torch, layer '{self.names(first)}': operator {name} is not supported{more}; {reason}"
        )

    def _can_import(self, name: str) -> bool:
        if own_torch_importer(name) is not None:
            return True
        has_import = name in self.tvm.convert_map or load_repair(name) is not None or name in CHECKS
        return has_import and name not in UNSUPPORTED


def _operator(node: Any) -> str:
    """Name in the tables: the operator and its overload, "add.Tensor"; "namespace::name" of the user's importers."""
    return own_torch_name(node.target) or str(getattr(node.target, "__name__", node.target))
