"""Case files of passes: modules as text before and after a pass, and what the pass says about each binding.

    # Given
    x: R.Tensor((1, 2, 4, 4), "float32")
    w = np.ones((2, 2, 3, 3))

    # Case: a convolution and the relu behind it are one group
    # Options: nbit_weight=4
    # Before
    c = R.nn.conv2d(x, w, padding=1)
    r = R.nn.relu(c)  # conv2d: c, r; low=0.0

`# Given` at the head serves all cases of the file, that of a case the case alone: `x: R.Tensor(...)` is a parameter of
the function where it is read, `w = ...` an array, float32 unless said otherwise. Other sections: `# After` (text, or
`# After: the same`), `# Error: StageError: words of the message` and `# Options`, keywords of the pass. The last
binding is the result unless a line `return` says otherwise. A comment behind a binding is what the pass noted about
this variable; `make golden` rewrites such comments and `# After` where they are wrong, `# ?` included.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import tvm
from tvm import relax
from tvm.script.parser import ir, tirx
from tvm.script.parser import relax as script

from tests.support.models.networks import assert_same, bare
from tvmq import QuantSpec, Rule, numerics
from tvmq.backends.description import Backend
from tvmq.graph.view import View, const_value, flatten_tuples, is_const, make_const

WORDS = {"np": np, "R": script, "I": ir, "T": tirx, "numerics": numerics}
WORDS |= {"Backend": Backend, "QuantSpec": QuantSpec, "Rule": Rule}
SECTION = re.compile(r"# (Case|Given|Options|Before|After|Error)(?:: (.*))?$")
COMMENT = re.compile(r"(\w+)(?:: .*?)? = .*?  # (.*)$")
ATTRIBUTE = re.compile(r", (\w+)=(\[[^]]*\]|\"[^\"]*\"|[^,()]+)(?=[,)])")
Pass = Callable[..., tvm.IRModule]
Notes = Callable[[tvm.IRModule], dict[str, str]]


@dataclass
class Case:
    """A case of a file; `lines` are those of the file behind each section's line, by section."""

    path: Path
    title: str
    given: list[str]
    arguments: dict[str, str] = field(default_factory=dict)
    lines: dict[str, list[str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The folder or file below `cases`, and the title."""
        place = self.path.with_suffix("").as_posix().rpartition("/cases/")[2]
        return f"{place}-{re.sub(r'[^a-z0-9]+', '_', self.title.lower()).strip('_')}"

    def declarations(self) -> tuple[dict[str, str], dict[str, Any]]:
        """{parameter: its type} and {name: constant}."""
        parameters, names = {}, dict(WORDS)
        for node in ast.parse("\n".join([*self.given, *self.lines.get("Given", [])])).body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                parameters[node.target.id] = ast.unparse(node.annotation)
                names.pop(node.target.id, None)
            else:
                exec(compile(ast.Module([node], []), str(self.path), "exec"), names)
        return parameters, names

    def options(self) -> dict[str, Any]:
        """Keywords of the pass."""
        return eval(f"dict({self.arguments.get('Options', '')})", self.declarations()[1])  # noqa: S307

    def module(self, section: str) -> tvm.IRModule:
        """The module of `# Before` or `# After`; both have the parameters that `# Before` reads."""
        return self.parse(self.lines[section])

    def parse(self, lines: Sequence[str]) -> tvm.IRModule:
        """The module of these bindings."""
        parameters, names = self.declarations()
        read = " ".join(line.partition("  # ")[0] for line in self.lines["Before"])
        signature = ", ".join(f"{n}: {kind}" for n, kind in parameters.items() if re.search(rf"\b{n}\b", read))
        arrays = {name: constant(value) for name, value in names.items() if isinstance(value, np.ndarray | np.generic)}
        *body, last = [line for line in lines if line.strip()]
        if not last.startswith("return "):
            body, last = [*body, last], f"return {re.split('[ :=]', last)[0]}"
        outputs = ", ".join(dict.fromkeys(set(re.findall(r"\w+", last[7:])) - set(parameters)))
        head = ["@I.ir_module", "class Module:", "    @R.function", f"    def main({signature}):"]
        block = ["with R.dataflow():", *(f"    {line}" for line in body), f"    R.output({outputs})", last]
        text = "\n".join([*head, *(f"        {line}" for line in block)])
        return tvm.script.from_source(text, extra_vars={**names, **arrays})


def constant(value: Any) -> relax.Expr:
    """An array as the module holds it; float64 stands for float32."""
    array = np.asarray(value)
    return make_const(array.astype(np.float32) if array.dtype == np.float64 else array)


def cases_in(path: Path) -> list[Case]:
    """The cases of a file, in order."""
    given: list[str] = []
    found, lines = [], given
    for line in path.read_text(encoding="utf-8").splitlines():
        match = SECTION.match(line)
        if match is None:
            if not line.startswith(("# ", '"""')):
                lines.append(line)
        elif match[1] == "Case":
            found.append(Case(path, match[2], given))
            lines = []
        elif found:
            found[-1].arguments[match[1]] = match[2] or ""
            lines = found[-1].lines.setdefault(match[1], [])
    for case in found:
        case.lines = {section: [line for line in text if line] for section, text in case.lines.items()}
    return found


def comments(lines: Sequence[str]) -> dict[str, str]:
    """{variable: comment behind its binding}."""
    return {match[1]: match[2] for match in map(COMMENT.match, lines) if match}


def check(case: Case, found: tvm.IRModule, notes: dict[str, str]) -> None:
    """Compare a pass's result with `# After`, and its notes with the comments."""
    if case.arguments.get("After") == "the same":
        assert_same(found, case.module("Before"))
    elif "After" in case.lines:
        assert_same(found, case.module("After"))
    said = comments([line for lines in case.lines.values() for line in lines])
    assert said == {name: notes.get(name, "nothing") for name in said}


# ---- `make golden`


def printed(found: tvm.IRModule, case: Case) -> list[str]:
    """The bindings of a module as a case file has them: constants by name or value, attributes but for defaults."""
    names = {key(value): name for name, value in case.declarations()[1].items() if isinstance(value, np.ndarray)}
    text = bare(found).script(show_meta=False)
    lines = [line.strip() for line in text.splitlines() if line.startswith(" " * 12)]
    values = [value for _, value in View(found).bindings]
    plain = []
    for line, value in zip(lines, values, strict=False):
        arrays = iter([names.get(key(array)) or expression(array) for array in constants(value)])
        line = re.sub(r'metadata\["ir\.GenericConst"\]\[\d+\]', lambda _, arrays=arrays: next(arrays), line)
        plain.append(re.sub(r"^(\w+): .*? = ", r"\1 = ", line))
    result = re.search(r"\n        return (.*)", text)[1]
    if result != re.split("[ :=]", plain[-1] if plain else "")[0]:
        plain.append(f"return {result}")
    return shortened(plain, found, case)


def shortened(lines: list[str], found: tvm.IRModule, case: Case) -> list[str]:
    """Without the attributes that have their default."""
    for row in range(len(lines)):
        for match in reversed(list(ATTRIBUTE.finditer(lines[row]))):
            tried = lines[row][: match.start()] + lines[row][match.end() :]
            try:
                assert_same(case.parse([*lines[:row], tried, *lines[row + 1 :]]), found)
                lines[row] = tried
            except Exception:  # noqa: BLE001, S112 - of the parser or of the comparison: the attribute stays
                continue
    return lines


def constants(value: relax.Expr) -> Iterator[np.ndarray]:
    """Arrays of a binding that are printed as metadata, in order."""
    for arg in flatten_tuples(getattr(value, "args", [value])):
        if is_const(arg) and const_value(arg).ndim:
            yield const_value(arg)


def key(array: Any) -> tuple[str, tuple[int, ...], bytes]:
    """The array's value, as a key."""
    value = const_value(constant(array))
    return str(value.dtype), value.shape, value.tobytes()


def expression(array: np.ndarray) -> str:
    """An array as an expression that gives it."""
    if array.size > 1 and (array == array.flat[0]).all():
        return f'R.const(np.full({array.shape}, {array.flat[0]!s}), "{array.dtype}")'
    assert array.size <= 32, f"an array of {array.shape} is no text; let the case name it, or take smaller ones"
    return f'R.const({array.tolist()}, "{array.dtype}")'


def rewrite(case: Case, found: tvm.IRModule, notes: dict[str, str]) -> None:
    """Write `# After` and the comments into the file."""
    text = case.path.read_text(encoding="utf-8")
    start = text.index(f"# Case: {case.title}\n")
    end = text.find("\n# Case: ", start)
    part = text[start:] if end < 0 else text[start:end]
    if "After" in case.lines and case.arguments.get("After") != "the same":
        part = part[: part.index("# After")] + "\n".join(["# After", *printed(found, case), ""])
    rows = [COMMENT.match(line) for line in part.splitlines()]
    lines = [
        f"{line[: match.start(2)]}{notes.get(match[1], 'nothing')}" if match else line
        for line, match in zip(part.splitlines(), rows, strict=True)
    ]
    case.path.write_text(text[:start] + "\n".join(lines) + "\n" + ("" if end < 0 else text[end:]), encoding="utf-8")
