"""The two files of an export: NAME.h with what a caller needs, NAME.c with everything else.

Tests: tests/formats/c/test_export_c.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tvmq.base.text import c_comment, c_float
from tvmq.formats.c.constants import PER_LINE
from tvmq.formats.c.scales import Encoding
from tvmq.formats.c.tensor import C_TYPES, CTensor
from tvmq.formats.c.writer import CWriter
from tvmq.version import __version__


@dataclass(frozen=True)
class CArgument:
    """An input or a result of the function.

    name     in the header
    place    the same parameter in the C file, where other names could hide it
    source   in the model
    encoding  scale, one or one for each channel, and zero point of codes; None for plain integers
    state     of an input that is a result of the call before: which one, and its first value; "" of others
    """

    name: str
    place: str
    source: str
    tensor: CTensor
    encoding: Encoding
    state: str = ""


def header(name: str, inputs: Sequence[CArgument], outputs: Sequence[CArgument], arena: int) -> str:
    """NAME.h."""
    upper = name.upper()
    arguments = [*(("input", argument) for argument in inputs), *(("result", argument) for argument in outputs)]
    about = "".join("\n".join(_about(upper, kind, argument)) + "\n\n" for kind, argument in arguments)
    return f"""/* {name}: a network in integers, written by tvmq {__version__}.
 * A code q stands for the real number (q - zero point) * scale. */
#ifndef {upper}_H
#define {upper}_H

#include <stdint.h>

#define {upper}_ARENA_BYTES {arena} /* of RAM inside of {name}.c, used during {name}_run alone */

{about}#ifdef __cplusplus
extern "C" {{
#endif

/* Buffers may not overlap. Not reentrant: all calls use one arena. */
{_signature(name, inputs, outputs)};

#ifdef __cplusplus
}}
#endif

#endif /* {upper}_H */
"""


def _about(upper: str, kind: str, argument: CArgument) -> list[str]:
    own = f"{upper}_{argument.name.upper()}"
    shape = ", ".join(map(str, argument.tensor.shape))
    source = c_comment(argument.source)
    kind = f"{kind} '{source}': {C_TYPES[argument.tensor.type]}"
    state = f"; {c_comment(argument.state)}" if argument.state else ""
    lines = [f"/* {kind} [{shape}]{state} */", f"#define {own}_SIZE {argument.tensor.size}"]
    if argument.encoding is None:
        return lines
    numbers = [c_float(v) for v in np.ravel(argument.encoding[0])]
    if len(numbers) == 1:
        lines.append(f"#define {own}_SCALE {numbers[0]}")
    else:
        rows = [", ".join(numbers[i : i + PER_LINE // 4]) for i in range(0, len(numbers), PER_LINE // 4)]
        lines.append(f"#define {own}_SCALES {{ \\\n    " + ", \\\n    ".join(rows) + " }")
    return [*lines, f"#define {own}_ZERO_POINT {int(np.ravel(argument.encoding[1])[0])}"]


def _signature(name: str, inputs: Sequence[CArgument], outputs: Sequence[CArgument], *, inside: bool = False) -> str:
    inputs_in_c = [f"const {C_TYPES[arg.tensor.type]} *{arg.place if inside else arg.name}" for arg in inputs]
    outputs_in_c = [f"{C_TYPES[arg.tensor.type]} *{arg.place if inside else arg.name}" for arg in outputs]
    return f"void {name}_run({', '.join([*inputs_in_c, *outputs_in_c]) or 'void'})"


TYPES = """
/* Arrays of several types share the arena: without this a compiler may take them for different memory. */
#if defined(__GNUC__)
#define MAY_ALIAS __attribute__((may_alias))
#else
#define MAY_ALIAS
#endif
typedef uint8_t u8;
typedef int8_t s8;
typedef uint16_t MAY_ALIAS u16;
typedef int16_t MAY_ALIAS s16;
typedef uint32_t MAY_ALIAS u32;
typedef int32_t MAY_ALIAS s32;
typedef int64_t MAY_ALIAS s64;

/* What the code takes for granted; an array of -1 elements is an error. */
typedef char check_int_has_32_bits[sizeof(int) >= 4 ? 1 : -1];
typedef char check_shifts_are_arithmetic[(-5 >> 1) == -3 && ((int64_t)-5 >> 1) == -3 ? 1 : -1];
typedef char check_conversions_wrap[(int32_t)4294967295u == -1 && (int8_t)255 == -1 ? 1 : -1];
"""


def source(
    name: str,
    writer: CWriter,
    steps: Sequence[tuple[str, str]],
    inputs: Sequence[CArgument],
    outputs: Sequence[CArgument],
    arena: int,
) -> str:
    """NAME.c."""
    parts = [
        f"/* {name}: a network in integers, written by tvmq {__version__}; see {name}.h. C99, nothing but stdint.h. */",
        f'#include "{name}.h"',
        TYPES.strip("\n"),
    ]
    if arena:
        parts.append(
            "static union {\n"
            f"    uint8_t bytes[{arena}];\n"
            "    int64_t aligned;\n"
            "} arena;\n"
            f"typedef char check_arena_size[sizeof arena == {name.upper()}_ARENA_BYTES ? 1 : -1];"
        )
    body = "".join(f"    /* {c_comment(layer)} */\n{text}" for layer, text in steps)
    parts += [writer.library.text.rstrip("\n"), writer.constants.used_in(body)[0]]
    parts.append(f"{_signature(name, inputs, outputs, inside=True)}\n{{\n{body}}}")
    return "\n\n".join(part for part in parts if part) + "\n"
