"""The numeric definition as a specification: the docstrings of tvmq/numerics, an operator family a section."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from types import ModuleType

from api_pages import links
from pages import Page, rst, toctree
from plain_docstrings import FORMULA, to_rst

from tvmq import numerics
from tvmq.version import __version__

# Page, title, files of tvmq/numerics
CHAPTERS = [
    ("codes", "Codes and scales", "affine codes requantize fixed_point rounding"),
    ("products", "Products and sums", "conv conv_transpose gemm pool windows proof"),
    ("elements", "Operators on elements", "add scale_shift table"),
    ("integer", "Softmax and layer norm in integers", "integer_softmax integer_layer_norm"),
    ("moments", "Second moments", "moments"),
    ("floats", "Floats of a defined order", "float_sum softmax layer_norm masked_mean"),
]


def pages() -> list[Page]:
    """The specification."""
    return [_overview(), *(_chapter(*row) for row in chapters())]


def chapters() -> list[tuple[str, str, str]]:
    """CHAPTERS, and a further one of the files in none of them."""
    files = {path.stem for path in _folder().glob("*.py")} - {"__init__"}
    missing = sorted(files - {name for _, _, names in CHAPTERS for name in names.split()})
    return CHAPTERS + ([("others", "Others", " ".join(missing))] if missing else [])


def _folder() -> Path:
    return Path(numerics.__file__).parent


def _overview() -> Page:
    rows: list[str] = []
    for page, title, names in chapters():
        rows += ["", f"## [{title}](numerics/{page}.md)", "", "| function | computes |", "| --- | --- |"]
        for name, value in public(names):
            first = (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
            rows.append(
                f"| {{py:obj}}`{name} <tvmq.numerics.{name}>` | {_code(first)} | [{title}](numerics/{page}.md) |"
            )
    below = toctree([f"numerics/{page}" for page, _, _ in chapters()], hidden=True)
    return Page("reference/numerics", HEAD.format(version=__version__) + "\n".join([*rows, "", below]))


HEAD = """# The numeric definition

Version {version} of tvmq. This is the specification: what each operator of an integer module computes, with the widths
of every step, the order of operations, the rounding, and the source where a formula is published. It is NumPy code in
`tvmq/numerics/`; these pages are its docstrings, and the examples in them are run by the tests. Compiled code equals it
bit for bit on every CPU, with every instruction set and any number of threads; `tvmq verify` checks that for your
model. [The overview by operator](../numbers.md) is shorter.

Conventions. A code `q` means the real number `(q - zero_point) * scale`. `rint` rounds half to even, `>>` is the
arithmetic shift (towards minus infinity), `clip` is applied before a cast, integers are two's complement. Where a row
`order` names a width, the step is done in that width and none wider. Integer sums that are proved to fit their width
may be made in any order, float sums in the stated order only. A release that changes a number says so in the
[changelog](../changelog.md).

"""


def _code(text: str) -> str:
    """A first sentence in Markdown; a formula is code, and within code nothing is escaped."""
    if FORMULA.fullmatch(text):
        return f"`{text.rstrip('.')}`"
    pieces = text.split("`")
    pieces[::2] = [piece.replace("*", "\\*").replace("_", "\\_") for piece in pieces[::2]]
    return "`".join(pieces)


def public(names: str) -> list[tuple[str, object]]:
    """(name, function or class) of files: those that tvmq.numerics offers."""
    found = []
    for file in names.split():
        module = importlib.import_module(f"tvmq.numerics.{file}")
        for name, value in vars(module).items():
            if name in numerics.__all__ and getattr(value, "__module__", "") == module.__name__:
                found.append((name, value))
    return found


def _chapter(page: str, title: str, names: str) -> Page:
    lines = [f"# {title}\n"]
    for file in names.split():
        module = importlib.import_module(f"tvmq.numerics.{file}")
        offered = public(file)
        lines += [f"## {file}\n", rst(to_rst(module.__doc__ or "", links(module.__name__)))]
        lines += [rst([f".. {_directive(value)}:: tvmq.numerics.{name}", ""]) for name, value in offered]
        if not offered:
            lines += [_inner(module)]
    return Page(f"reference/numerics/{page}", "\n".join(lines))


def _directive(value: object) -> str:
    return "autoclass" if inspect.isclass(value) else "autofunction"


def _inner(module: ModuleType) -> str:
    """Parts of the definition in a file that offers nothing by itself."""
    names = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and callable(value) and getattr(value, "__module__", "") == module.__name__
    ]
    return "\n".join(rst([f".. {_directive(getattr(module, name))}:: {module.__name__}.{name}", ""]) for name in names)
