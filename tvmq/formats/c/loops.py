"""Nested loops over arrays with known strides: axes that are contiguous in all of them become one loop.

Tests: tests/formats/c/test_export_c.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tvmq.formats.c.tensor import CTensor, Formula, Ints, strides_of

if TYPE_CHECKING:
    from tvmq.formats.c.writer import CWriter


def collapse_loops(shape: Ints, strides: Sequence[Ints]) -> tuple[Ints, list[Ints]]:
    """Sizes and strides of the fewest loops; axes of one element are left out.

    >>> collapse_loops((2, 3, 4), [(12, 4, 1), (0, 4, 1)])
    ((2, 12), [(12, 1), (0, 1)])
    """
    sizes: list[int] = []
    steps: list[list[int]] = [[] for _ in strides]
    for axis, size in enumerate(shape):
        if size == 1:
            continue
        joins = bool(sizes) and all(own[-1] == stride[axis] * size for own, stride in zip(steps, strides, strict=True))
        if joins:
            sizes[-1] *= size
        else:
            sizes.append(size)
        for own, stride in zip(steps, strides, strict=True):
            own[-1:] = [stride[axis]] if joins else [*own[-1:], stride[axis]]
    return tuple(sizes), [tuple(own) for own in steps]


def index(counters: Sequence[str], steps: Ints, offset: int = 0) -> str:
    """An index in C.

    >>> index(["i0", "i1"], (12, 1), 3), index(["i0"], (0,))
    ('3 + i0 * 12 + i1', '0')
    """
    parts = [c if s == 1 else f"{c} * {s}" for c, s in zip(counters, steps, strict=True) if s]
    return " + ".join([str(offset)] * bool(offset or not parts) + parts)


def nest(sizes: Ints, body: str, *, counter: str = "i", indent: str = "        ") -> str:
    """`body` inside of loops over sizes; counters are i0, i1, ..."""
    lines = []
    for axis, size in enumerate(sizes):
        name = f"{counter}{axis}"
        lines.append(f"{indent}{'    ' * axis}for (int32_t {name} = 0; {name} < {size}; {name}++)")
    inner = indent + "    " * len(sizes)
    return "\n".join([*lines, *(inner + line for line in body.splitlines())]) + "\n"


def block(declarations: Sequence[str], body: str) -> str:
    """Statements in a scope of their own."""
    return "    {\n" + "".join(f"        {line}\n" for line in declarations) + body + "    }\n"


def emit_loops(
    writer: CWriter, sizes: Ints, body: str, result: CTensor, more: Sequence[CTensor] = (), **reads: CTensor
) -> None:
    """Append a step: `body` in loops over sizes, with the arrays `reads` under their names and the result as y.

    more   further arrays that the body reads
    """
    declared = [f"const {tensor.type} *{name} = {tensor.mark};" for name, tensor in reads.items()]
    text = block([*declared, f"{result.type} *y = {result.mark};"], nest(sizes, body))
    writer.write(text, [*reads.values(), *more], [result])


def elementwise(formula: Formula, result: CTensor, offset: int = 0, strides: Ints | None = None) -> str:
    """result[...] = formula, element by element; `strides` where the result is a part of an array."""
    all_strides = [strides or strides_of(formula.shape), *(operand.strides for operand in formula.operands)]
    sizes, steps = collapse_loops(formula.shape, all_strides)
    counters = [f"i{axis}" for axis in range(len(sizes))]
    names = [f"a{number}" for number in range(len(formula.operands))]
    values = [
        f"{name}[{index(counters, own, operand.offset)}]"
        for name, own, operand in zip(names, steps[1:], formula.operands, strict=True)
    ]
    declared = [f"const {o.tensor.type} *{n} = {o.tensor.mark};" for n, o in zip(names, formula.operands, strict=True)]
    declared.append(f"{result.type} *y = {result.mark};")
    target = f"y[{index(counters, steps[0], offset)}]"
    return block(declared, nest(sizes, f"{target} = ({result.type})({formula.text.format(*values)});"))
