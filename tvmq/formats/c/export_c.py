"""`export_c`: the integral core of a module as one .c and one .h file, for microcontrollers."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tvm
from tvm import relax

from tvmq.base.whole_file import write_files
from tvmq.errors import ConfigError, IntegralError
from tvmq.formats.c import elementwise, moves, norms, pools, products, reductions
from tvmq.formats.c.export_files import CArgument, header, source
from tvmq.formats.c.placing import name_results, plan_arena, text_of
from tvmq.formats.c.scales import input_scales, result_scales
from tvmq.formats.c.tensor import NAMES
from tvmq.formats.c.writer import CWriter, Form
from tvmq.formats.exporting.integral_core import extract_core
from tvmq.graph.analysis.integer_core import element_types
from tvmq.graph.describe_states import describe_states
from tvmq.graph.module_functions import plain_module
from tvmq.graph.names import UniqueNames, identifier, input_names, output_names
from tvmq.graph.view import View, is_const, op_name, sizes_of

FORMS: dict[str, Form] = {
    **products.FORMS,
    **pools.FORMS,
    **reductions.FORMS,
    **norms.FORMS,
    **elementwise.FORMS,
    **moves.FORMS,
}
IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
# Words of C and of C++, which reads the header too
RESERVED = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class compl const
    constexpr const_cast continue decltype default delete do double dynamic_cast else enum explicit export extern false
    float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private
    protected public register reinterpret_cast restrict return short signed sizeof static static_assert static_cast
    struct switch template this thread_local throw true try typedef typeid typename union unsigned using virtual void
    volatile wchar_t while xor xor_eq
    """.split()
)
REMEDY = "quantize with qconfig(requantize='fixed_point', partition_conversions='fully_integral'), see docs/integral.md"


@dataclass(frozen=True)
class CExport:
    """Files that `export_c` wrote, and the memory that they need.

    source, header   the files
    arena_bytes      RAM for intermediate results
    least_bytes      what any plan of the arena needs at the step that needs most
    constant_bytes   weights and other constants, in flash
    steps            statements of the run function
    """

    source: Path
    header: Path
    arena_bytes: int
    least_bytes: int
    constant_bytes: int
    steps: int

    def __str__(self) -> str:
        return (
            f"{self.source} and {self.header.name}: arena {self.arena_bytes} bytes of RAM (no plan needs less than "
            f"{self.least_bytes}), constants {self.constant_bytes} bytes, {self.steps} steps"
        )


def export_c(qmod: tvm.IRModule, folder: str | os.PathLike[str], *, name: str = "model") -> CExport:
    """Write the function quantized_main of a fully integral module as C99: folder/NAME.c and folder/NAME.h.

    The C function NAME_run takes the codes that `exe["quantize_inputs"]` gives and writes those that
    `exe["dequantize_outputs"]` takes, bit for bit what `exe["quantized_main"]` computes. It needs stdint.h alone: no
    heap, no library of mathematics, no float. Constants are const; intermediate results are in one static array,
    whose plan is made here.

    qmod     module that `quantize` returned with partition_conversions="fully_integral", in sizes that are all fixed
    folder   made if it is not there; both files are written under other names and renamed
    name     begins the names of files, functions and macros: letters, digits and "_"
    returns  the files, and bytes of RAM and of constants
    raises   StageError for a module that is not in four functions, IntegralError naming a layer that computes in
             floats, UnsupportedOpError naming one without a C form, ModelError for a dynamic size, ConfigError for a
             name that C does not take, OutputError if the files cannot be written
    """
    if not IDENTIFIER.fullmatch(name) or name in RESERVED:
        raise ConfigError(f"export_c: name must be letters, digits and '_' and no word of C. Got {name!r} instead")
    core = extract_core(qmod, "export_c", REMEDY)
    _check_integral(View(core))
    writer = CWriter(View(core), FORMS)
    entries = input_names(core["main"])
    sources = output_names(core["main"], len(writer.view.outputs))
    ins, outs = (
        [f"{kind}_{i}" for i in range(len(names))] for kind, names in (("input", entries), ("result", sources))
    )
    results = writer.run(ins)
    name_results(writer, results, outs)
    arena, least = plan_arena(writer)
    plain = plain_module(qmod)
    tensors = [*(writer.values[param] for param in entries), *results]
    encodings = [*input_scales(plain), *result_scales(plain)]
    names = _names_in_c([*entries.values(), *sources])
    states = _state_texts(plain)
    arguments = [
        CArgument(*argument, state=states.get(argument[2], ""))
        for argument in zip(names, [*ins, *outs], [*entries.values(), *sources], tensors, encodings, strict=True)
    ]
    inputs, outputs = arguments[: len(ins)], arguments[len(ins) :]
    folder = Path(folder)
    steps = text_of(writer)
    files = {
        f"{name}.c": source(name, writer, steps, inputs, outputs, arena),
        f"{name}.h": header(name, inputs, outputs, arena),
    }
    write_files(folder, {file: text.encode("ascii", "replace") for file, text in files.items()}, "export_c")
    return CExport(
        folder / f"{name}.c",
        folder / f"{name}.h",
        arena,
        least,
        writer.constants.used_in("".join(text for _, text in steps))[1],
        len(steps),
    )


def _state_texts(mod: tvm.IRModule) -> dict[str, str]:
    """{input that is a state: which result it is, and what it is before the first call}."""
    texts = {}
    for one in describe_states(View(mod)).tensors:
        first = one.encode(np.full(1, one.pair.initial, np.float32)).item()
        texts[one.name] = f"'{one.pair.output}' of the call before, {first:g} in every element of the first one"
    return texts


def _check_integral(view: View) -> None:
    """IntegralError for the first operator that reads or gives floats."""
    for param in view.func.params:
        if str(param.ty.dtype) not in NAMES:
            raise IntegralError(
                f"export_c: the core takes '{param.name}' in {param.ty.dtype}, sizes {sizes_of(param)}; {REMEDY}"
            )
    for var, value in view.bindings:
        operands = [arg for arg in getattr(value, "args", ()) if is_const(arg) or isinstance(arg, relax.Var)]
        types = [dtype for expr in (var, *operands) for dtype in element_types(expr)]
        unknown = [dtype for dtype in types if dtype not in NAMES]
        if unknown:
            layer = ", ".join(view.sources(var.name))
            raise IntegralError(
                f"export_c, layer '{layer}': {op_name(value) or 'a value'} in {unknown[0]} is no integer; {REMEDY}"
            )


def _names_in_c(sources: Sequence[str]) -> list[str]:
    """Names of inputs and results in the header: macros have them in upper case, so these differ too.

    >>> _names_in_c(["image", "Image", "class", "input.1"])
    ['image', 'Image_1', 'class_1', 'input_1']
    """
    unique_name, names = UniqueNames(word.upper() for word in RESERVED), []
    for text in sources:
        name = re.sub(r"[^A-Za-z0-9_]", "_", identifier(text))
        names.append(name + unique_name(name.upper())[len(name) :])
    return names
