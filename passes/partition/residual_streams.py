"""Residual streams as codes of 16 bits, qconfig(residual_streams="int16"), and layers that read 16 bits.

Before                                            After
    p = dense(x)                                      p = int16 codes, requantized straight from the int32 sums
    a = add(s, p)             (float)                 a = tvmq.add(s, p) of int16 codes
    n = layer_norm(a)                                 n = layer_norm(dequantize(a))

A stream is what why_float_sum leaves float for a normalization, not for a softmax: sums of tensors and of constants.
What it reads becomes int16, too: results of products, float tensors, embeddings, what only moves such codes, and
concats with constants (class tokens), all symmetric with one scale for the tensor. Products read a stream in 8 bits.

Layers whose activations are int16, by dtype_input or by a rule, read such codes as well: sums of convolutions and
products stay in int32 as far as their weights prove it, and are refused by name where they do not.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable

import numpy as np
from tvm import relax

from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name
from tvmq.graph.walk import resolve_each
from tvmq.numerics.spec import QuantSpec
from tvmq.passes.families import add, concat, scale_shift
from tvmq.passes.families.base import Draft, Group
from tvmq.passes.partition.float_exceptions import normalization_of, why_float_sum

# +-32767: no zero point, since a stream is centred more or less and 16 bits have codes to spare
INT16_RESIDUAL = QuantSpec("int16", 16, symmetric=True)


def widen_residuals(draft: Draft) -> None:
    """Make groups of the sums that stay float for a normalization, and of the concats of tokens that only they read.

    Needs   draft.reasons of all sums that would lose too much in 8 bits: find_groups has run, decide_layers has not.
    Leaves  these sums as groups with facts.stream, without a reason.
    """
    view, groups, reasons = draft.view, draft.groups, draft.reasons
    if not draft.has_residuals:
        return
    members: set[str] = set()
    for var, value in view.bindings:
        if var.name in reasons and var.name not in members and isinstance(value, relax.Call):
            group = _residual_sum(view, var, value)
            if group is not None:
                members.update(group.members)
                groups[group.output] = _mark_int16(group)
    # after all sums: a concat of class tokens is part of a stream only if each of its readers is a sum of one
    for var, value in view.bindings:
        if var.name in reasons and op_name(value) == "concat" and _is_token_concat(view, var.name, value, members):
            parts = [part.name for part in value.args[0].fields if not is_const(part)]
            groups[var.name] = _mark_int16(concat.FAMILY.of_tokens(var.name, parts))
            members.add(var.name)
    for name in members:
        reasons.pop(name, None)


def _mark_int16(group: Group) -> Group:
    group.facts.stream = True
    return group


def is_int16_residual(group: Group) -> bool:
    """True for a group that reads int16 codes of a stream."""
    return bool(group.facts.stream)


def why_no_int16(group: Group, activations: QuantSpec) -> str | None:
    """Why a group cannot read codes of 16 bits where its spec says so; None if it can, or need not."""
    if (
        activations.dtype != "int16"
        or group.passes
        or not group.inputs
        or group.strategy.reads_int16
        or is_int16_residual(group)
    ):
        return None
    return f"limit: {group.family} reads codes of 8 bits, not of 16"


def widen_layers(draft: Draft) -> None:
    """Let groups whose activations are int16 read such codes.

    Needs   draft.decisions of every group, since a rule may say int16 for one layer alone.
    Leaves  facts.stream and facts.bits of the layers that can; decide_layers has refused the others (why_no_int16).
    """
    for key, group in draft.groups.items():
        spec = draft.decisions[key].activations or draft.config.activation_spec
        if spec.dtype == "int16" and group.strategy.reads_int16 and not draft.is_prequantized:
            facts = _mark_int16(group).facts
            facts.bits = facts.bits or spec.bits


def _residual_sum(view: View, var: relax.Var, value: relax.Call) -> Group | None:
    """The group of a sum of a residual stream; None for everything else."""
    if op_name(value) not in ("add", "subtract") and op_name(value) not in scale_shift.LINKS:
        return None
    if any(isinstance(arg.ty, relax.TensorType) and dtype_of(arg) != "float32" for arg in value.args):
        return None
    constant = any(map(is_const, value.args))
    if not constant and op_name(value) not in ("add", "subtract"):
        return None
    family = scale_shift.FAMILY if constant else add.FAMILY
    group = family.group(view, var, value, as_int16=True)
    return group if isinstance(group, Group) and _feeds_normalization(view, group.output) else None


def _feeds_normalization(view: View, name: str) -> bool:
    """True if a normalization reads the tensor, or nothing but sums that one reads; masks of a softmax are none."""

    def holds(name: str) -> Generator[str, bool, bool]:
        if why_float_sum(view, name) is None:
            return False
        normalization = normalization_of(view, name)
        if normalization is not None:
            return normalization != "softmax"
        for reader in view.readers[name]:
            if not (yield reader):
                return False
        return True

    return resolve_each(name, holds, view.memo(_feeds_normalization))


def _is_token_concat(view: View, name: str, value: relax.Call, sums: set[str]) -> bool:
    """True for a concat of tensors and constants that only sums of a stream read."""
    parts = value.args[0]
    if not isinstance(parts, relax.Tuple) or view.is_output(name) or not view.readers[name]:
        return False
    constants = [const_value(part) for part in parts.fields if is_const(part)]
    return (
        0 < len(constants) < len(parts.fields)
        and all(dtype_of(part) == "float32" for part in parts.fields)
        and all(np.isfinite(array).all() for array in constants)
        and all(reader in sums for reader in view.readers[name])
    )


def widen_moves(draft: Draft) -> None:
    """Let operators that move codes move int16 ones, where no group reads the moved codes in 8 bits.

    Needs   facts.stream of all groups that compute: finalize_groups and widen_layers have run.
    Leaves  facts.stream and facts.bits of moves. A concat no longer passes on the scale of one input: it has a scale
            of its own, to which its parts are brought by what makes them, and constants when they are encoded.

    Readers come before what they read, so that a chain of moves is decided in one walk.
    """
    view, groups = draft.view, draft.groups
    owner = {member: group for group in groups.values() for member in group.members}
    for group in reversed([groups[var.name] for var, _ in view.bindings if var.name in groups]):
        if not group.passes or (group.joins and not group.strategy.concatenates):
            continue
        readers = [owner[name] for name in view.readers[group.output] if name in owner]
        if readers and all(is_int16_residual(reader) for reader in readers):
            _mark_int16(group).facts.bits = max(bits_of(reader) for reader in readers)
            if group.strategy.concatenates:
                group.passes, group.facts.needs_output_codes = False, True


def bits_of(group: Group) -> int:
    """Bits of the codes that a group of int16 residuals reads."""
    return int(group.facts.bits or INT16_RESIDUAL.bits)


def int16_tensors(groups: Iterable[Group]) -> dict[str, tuple[str, QuantSpec]]:
    """{tensor: name of its scale, spec} of all that must be there as int16 codes; parts of a concat share its scale."""
    groups = [group for group in groups if is_int16_residual(group) or group.passes]
    # what passes codes on has no scale of its own: it is what it reads that must be there in int16
    passing = {group.output for group in groups if group.passes}
    tensors: dict[str, tuple[str, QuantSpec]] = {}
    for group in reversed([group for group in groups if is_int16_residual(group)]):
        spec = QuantSpec("int16", bits_of(group), symmetric=True)
        if group.facts.needs_output_codes:
            tensors.setdefault(group.output, (f"{group.output}:stream", spec))
        for name in group.inputs:
            if name not in passing:
                shared = tensors[group.output] if group.strategy.concatenates else (f"{name}:stream", spec)
                known = tensors.setdefault(name, shared)
                tensors[name] = known[0], max(known[1], spec, key=lambda s: s.bits)
    return tensors
