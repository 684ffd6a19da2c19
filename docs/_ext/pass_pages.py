"""A page for each pass: the head of its file, a picture of what it does to a tiny module, and the module as text."""

from __future__ import annotations

import difflib
import importlib
import inspect
import re
from collections.abc import Iterator

import tvm
from api_pages import links
from architecture_pages import draw_stages
from pages import ROOT, Page, rst, toctree
from pass_samples import Sample, samples
from pictures import functions, picture
from plain_docstrings import inline, to_rst
from tvm import relax

from tvmq.graph.view import const_value, is_const
from tvmq.passes import PASSES

HEAD = re.compile(r"(Before .*?)(?=\n\n|\Z)", re.S)


def pages() -> list[Page]:
    """Pages: one for each pass of the table, and an overview."""
    found = samples()
    return [_overview(), *(_page(name, found.get(name)) for name in PASSES)]


def _head(name: str) -> str:
    return inspect.cleandoc(importlib.import_module(PASSES[name].partition(":")[0]).__doc__ or "")


def _overview() -> Page:
    rows = [f"| [{name}]({name}.md) | {_markdown(_head(name).split(chr(10) * 2)[0])} |" for name in PASSES]
    table = ["| pass | what it does |", "| --- | --- |", *rows, ""]
    lines = [OVERVIEW, *draw_stages(""), STAGES_TEXT, *table, toctree(list(PASSES), hidden=True)]
    return Page("passes/index", "\n".join(lines))


OVERVIEW = """# The passes

Each pass takes a module and returns one, and can be run and printed alone: `tvmq.passes.NAME.NAME(module)`. Each page
shows the pass on a tiny network: the head of its file, a picture, and the module before and after as text. The pictures
show what the passes of this version do; they are drawn when these pages are built.
"""
STAGES_TEXT = """
Dashed passes run only where options or data require them. A model with its own scales goes through `prepare`,
`import_qdq` and `realize`; one without data through `prepare` and `quantize_dynamic`. [Concepts](../concepts.md)
explains the pipeline in words.
"""


def _page(name: str, sample: Sample | None) -> Page:
    """A pass without a sample has no picture."""
    first, _, rest = _head(name).partition("\n\n")
    lines = [f"# {name}\n", rst([inline(line) for line in first.split("\n")])]
    if sample is not None:
        lines += [f"## On a tiny module\n\n{sample.about}\n", "```{raw} html", LEGEND]
        lines += [picture(sample.before, sample.after, f"{name}: before and after"), "```\n"]
    lines += ["## The rule\n", *_rule(rest)]
    if sample is not None:
        lines += ["## As text\n", PRINTED, "```{code-block} diff", ":class: rule\n", *_difference(sample), "```\n"]
    lines += [*_cases(name), "## In Python\n", *_signature(name)]
    return Page(f"passes/{name}", "\n".join(lines))


LEGEND = """<p class="legend"><span class="float">float32</span> <span class="codes">codes: int8, uint8, int16</span>
<span class="sums">int32</span> <span class="changed">thick frame: new or changed</span></p>"""
PRINTED = """What TVM prints; lines with `-` are before the pass, lines with `+` after it, the others are in both.
Attributes of the function are omitted, and constants are shown by type and shape.
"""


CASES = """Modules before and after the pass, as the tests compare them. Parameters and constants stand under `# Given`,
at the head those of all cases; a comment behind a binding is what the pass noted about that variable.
"""


def _cases(name: str) -> list[str]:
    """The case files of the pass, where it has any."""
    folder = ROOT / "tests" / "passes" / "cases"
    paths = [*folder.glob(f"{name}.py"), *sorted(folder.glob(f"{name}/*.py"))]
    lines = ["## Cases\n", CASES] if paths else []
    for path in paths:
        head, _, text = path.read_text(encoding="utf-8").partition("\n\n")
        said = head.strip('"').removeprefix(f"{name}: ")
        lines += [f"{said[0].upper()}{said[1:]}\n", "```{code-block} python", ":class: rule\n", text, "```\n"]
    return lines


def _rule(rest: str) -> list[str]:
    """Columns of the head: Before and After unchanged, the others as a table."""
    lines = []
    for part in re.split(r"\n\n", rest):
        if part.startswith("Before") or part.startswith(" "):
            lines += ["```{code-block} text", ":class: rule\n", part, "```\n"]
        else:
            lines += [rst(to_rst(part, links("tvmq.passes")))]
    return lines


def _signature(name: str) -> list[str]:
    module, _, function = PASSES[name].partition(":")
    return [rst([f".. autofunction:: {module}.{function}", ""])]


def _difference(sample: Sample) -> list[str]:
    before, after = (list(_text(mod)) for mod in (sample.before, sample.after))
    return list(difflib.unified_diff(before, after, n=1000, lineterm=""))[3:]


def _text(mod: tvm.IRModule) -> Iterator[str]:
    """The printed module without its attributes; constants by type and shape."""
    for name, func in functions(mod):
        constants = _constants(func)
        plain = tvm.IRModule({name: func}).script(show_meta=False)
        for line in plain.split("\n"):
            kept = line.strip() and not re.match(r"\s*(#|from |R\.func_attr|@|class |cls = )", line)
            if kept:
                yield _named(line[4:], constants)


def _constants(func: relax.Function) -> dict[str, list[str]]:
    """{variable: its constants by type and shape}, those that are printed as metadata."""
    found: dict[str, list[str]] = {}
    for block in func.body.blocks:
        for binding in block.bindings:
            arrays = [const_value(arg) for arg in getattr(binding.value, "args", ()) if is_const(arg)]
            shown = [a for a in arrays if a.ndim or str(a.dtype) not in ("float32", "int32", "int64", "bool")]
            found[binding.var.name] = [f"const({a.dtype} {'x'.join(map(str, a.shape)) or '1'})" for a in shown]
    return found


def _named(line: str, constants: dict[str, list[str]]) -> str:
    waiting = iter(constants.get(line.strip().partition(":")[0], []))
    return re.sub(r'metadata\["ir\.GenericConst"\]\[\d+\]', lambda match: next(waiting, "const"), line)


def _markdown(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("*", "\\*")
