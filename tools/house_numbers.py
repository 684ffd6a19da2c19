"""The size and shape of the sources in figures, to be put beside those of another version.

    python tools/house_numbers.py                 # a table in Markdown
    python tools/house_numbers.py --json          # the same as JSON
    python tools/house_numbers.py --list tables   # what a figure counts, with places; of which: see LISTS
    python tools/house_numbers.py --static        # without the figures for which tvmq is run
    python tools/house_numbers.py --check         # compare with the budgets of tools/house_budgets.json

Sources     Python files of `tvmq/` and `passes/`
Code        lines that are not blank, import, comment or docstring
Room        a folder of `tvmq/`, its loose files, or `passes/`; for the budgets `tests/` too, with its case files
Function    lines of a function from its `def` to its end, docstring included, nested ones counted twice
Tables of operator names
            assignments at module level that hold three or more names of Relax operators (of TVM or ours); those of
            `relay/` and the ONNX importer, which name operators of other formats, are left out. A table dispatches
            where the names are keys of functions, classes or "module:object"
Comparisons with family names
            `.family`, `family` or `["family"]` compared with a text or a constant, its own name in a family's file not
Single-importer modules
            modules that one other module imports, and none else; also those of them that are in its folder
Views       `tvmq.extension.View` made by one `quantize` of the embedded example with 8 calibration samples
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import house_words
from house_words import Sources

ROOT = Path(__file__).resolve().parent.parent
BUDGETS = ROOT / "tools" / "house_budgets.json"
ENTRY = re.compile(r"(tvmq(?:\.\w+)+):\w+")
OWN = ("tvmq", "passes")
AROUND = ("tests", "benchmarks", "tools", "docs/_ext")
FOREIGN = ("relay", "repairs")  # folders whose operator names are of other formats
BLANK = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
SPREAD = ("median", "p90", "max")
Figures = dict[str, int | float]
Budgets = dict[str, dict[str, int]]


def sources(root: Path = ROOT, folders: Sequence[str] = OWN) -> Sources:
    """The syntax trees of all source files of the folders."""
    paths = sorted(path for folder in folders for path in (root / folder).rglob("*.py"))
    return {path.relative_to(root): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def module_name(path: Path) -> str:
    """Name of a module: passes/families/add.py is tvmq.passes.families.add, in any folder."""
    parts = path.with_suffix("").parts
    parts = parts if parts[0] == "tvmq" else ("tvmq", *parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def quantile(values: Sequence[int], share: float) -> int:
    """The least value that so large a share of them does not exceed.

    >>> quantile([1, 2, 3, 4], 0.5), quantile([1, 2, 3, 4], 0.9)
    (2, 4)
    """
    return sorted(values)[max(math.ceil(share * len(values)) - 1, 0)]


def _spread(what: str, values: Sequence[int]) -> Figures:
    figures = (quantile(values, 0.5), quantile(values, 0.9), max(values))
    return {f"{what}, {name}": figure for name, figure in zip(SPREAD, figures, strict=True)}


def sizes(trees: Sources, root: Path = ROOT) -> Figures:
    """Files, lines and functions."""
    lines = [len((root / path).read_text(encoding="utf-8").splitlines()) for path in trees]
    functions = [node for tree in trees.values() for node in functions_of(tree)]
    return {
        "files": len(lines),
        "lines": sum(lines),
        **_spread("lines a file", lines),
        **{f"files below {bound} lines": sum(count < bound for count in lines) for bound in (40, 60, 100)},
        "files above 450 lines": sum(count > 450 for count in lines),
        "functions": len(functions),
        **_spread("lines a function", [(node.end_lineno or 0) - node.lineno + 1 for node in functions]),
    }


def functions_of(tree: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """All functions and methods, nested ones too."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def operator_names() -> frozenset[str]:
    """Names of Relax operators without "relax."; ours keep "tvmq."."""
    import tvm

    import tvmq.extension  # noqa: F401  registers ours

    names = {name.removeprefix("relax.") for name in tvm.ir.Op.list_op_names() if name.startswith(("relax.", "tvmq."))}
    return frozenset(names)


def tables(trees: Sources, names: frozenset[str]) -> list[str]:
    """Assignments at module level that hold three or more of the names."""
    lines = []
    for path, tree in trees.items():
        for node in tree.body:
            value = getattr(node, "value", None) if isinstance(node, ast.Assign | ast.AnnAssign) else None
            if value is None or set(path.parts) & set(FOREIGN):
                continue
            target = ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
            held = {text for text in _texts(value) if text in names}
            if len(held) >= 3 and target != "__all__":
                kind = "dispatch" if _dispatches(value) else "names"
                lines.append(f"{path}:{node.lineno}: {target}: {len(held)} {kind}")
    return lines


def _texts(node: ast.AST) -> Iterator[str]:
    return (n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str))


def _dispatches(value: ast.expr) -> bool:
    """True where names are keys of functions, classes or "module:object"."""
    if any(ENTRY.fullmatch(text) for text in _texts(value)):
        return True
    results = [v for node in ast.walk(value) if isinstance(node, ast.Dict) for v in node.values]
    return any(isinstance(v, ast.Name | ast.Attribute | ast.Lambda) for v in results)


def family_comparisons(trees: Sources) -> list[str]:
    """Places outside of a family's file that ask which family it is."""
    return [
        f"{path}:{node.lineno}: {ast.unparse(node)}"
        for path, tree in trees.items()
        if "relay" not in path.parts
        for node in ast.walk(tree)
        if _asks_family(node, path.stem)
    ]


def _asks_family(node: ast.AST, own: str) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "startswith":
        return _is_family(node.func.value)
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    others = [side for side in sides if not _is_family(side)]
    return len(others) < len(sides) and any(_is_constant(side, own) for side in others)


def _is_family(node: ast.expr) -> bool:
    """`x.family`, `family`, `x["family"]`, `x.get("family")`."""
    if isinstance(node, ast.Call) and node.args:
        return ast.unparse(node.func).endswith(".get") and ast.unparse(node.args[0]) == "'family'"
    name = ast.unparse(node)
    return name == "family" or name.endswith((".family", "['family']"))


def _is_constant(node: ast.expr, own: str) -> bool:
    """A text, a tuple that has one, or a constant; but for the name of the file."""
    if isinstance(node, ast.Tuple):
        return any(_is_constant(item, own) for item in node.elts)
    if isinstance(node, ast.Starred):
        return _is_constant(node.value, own)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value != own
    return isinstance(node, ast.Name) and node.id.isupper()


def imports_of(tree: ast.Module, known: Iterable[str]) -> set[str]:
    """Modules of ours that a file imports, those inside of functions and of tables too."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update((node.module, *(f"{node.module}.{alias.name}" for alias in node.names)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.update(match[1] for match in ENTRY.finditer(node.value))
    return names & set(known)


def single_importers(trees: Sources) -> list[str]:
    """Modules that one other module imports, with it."""
    known = {module_name(path): path for path in trees}
    importers: dict[str, set[str]] = {name: set() for name in known}
    for name, path in known.items():
        for imported in imports_of(trees[path], known) - {name}:
            importers[imported].add(name)
    return [f"{name}: {min(by)}" for name, by in sorted(importers.items()) if len(by) == 1]


def beside(lines: Iterable[str]) -> list[str]:
    """Lines of `single_importers` whose module is in the folder of its importer."""
    return [line for line in lines if len({name.rpartition(".")[0] for name in line.split(": ")}) == 1]


def code_and_comments(tree: ast.Module, text: str) -> tuple[int, int]:
    """Lines of code and comments of a file; imports, docstrings and empty lines are neither."""
    others = {number for node in house_words.nodes_of(tree) for number in (*_docstring(node), *_import(node))}
    tokens = house_words.tokens_of(text)
    comments = sum(token.type == tokenize.COMMENT for token in tokens)
    code = {n for token in tokens if token.type not in BLANK for n in range(token.start[0], token.end[0] + 1)}
    return len(code - others), comments


def room_of(path: Path) -> str:
    """Folder of `tvmq/` that a file is in; `tvmq` itself for loose files, and `passes`."""
    return "/".join(path.parts[:2]) if path.parts[0] == "tvmq" and len(path.parts) > 2 else path.parts[0]


def code_by_room(trees: Sources, root: Path = ROOT) -> dict[str, int]:
    """Lines of code of each room."""
    lines: Counter[str] = Counter()
    for path, tree in trees.items():
        lines[room_of(path)] += code_and_comments(tree, (root / path).read_text(encoding="utf-8"))[0]
    return dict(sorted(lines.items()))


def budgeted_code(trees: Sources, root: Path = ROOT) -> dict[str, int]:
    """Lines of code of each room, and of the tests."""
    rooms = code_by_room(trees, root) | code_by_room(sources(root, ("tests",)), root)
    return dict(sorted(rooms.items()))


def comment_share(trees: Sources, root: Path = ROOT) -> float:
    """Comments for 100 lines of code."""
    counts = [code_and_comments(tree, (root / path).read_text(encoding="utf-8")) for path, tree in trees.items()]
    return round(100 * sum(comments for _, comments in counts) / sum(code for code, _ in counts), 1)


def _docstring(node: ast.AST) -> range:
    """Lines of a node's docstring."""
    body = getattr(node, "body", None)
    first = body[0] if isinstance(body, list) and body else None
    is_text = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return range(first.lineno, (first.end_lineno or 0) + 1) if first is not None and is_text else range(0)


def _import(node: ast.AST) -> range:
    """Lines of an import statement."""
    is_import = isinstance(node, ast.Import | ast.ImportFrom)
    return range(node.lineno, (node.end_lineno or 0) + 1) if is_import else range(0)


LOADED = """
import sys, tvmq
tvmq.load
print(sum(name == "tvmq" or name.startswith("tvmq.") for name in sys.modules))
"""
VIEWS = """
import itertools, warnings
import tvmq
from tvmq.demo import load_demo
from tvmq.extension import View
warnings.simplefilter("ignore")
count, read = itertools.count(), View._read
def counted(self, mod):
    next(count)
    read(self, mod)
View._read = counted
demo = load_demo()
tvmq.quantize(*tvmq.from_onnx(demo.model), demo.calibration[:8])
print(next(count))
"""


def measured(code: str) -> int:
    """Number that a fresh Python prints last."""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return int(done.stdout.split()[-1])


def vague_docstrings_around(_trees: Sources, root: Path = ROOT) -> list[str]:
    """Docstrings as in `house_words.vague_docstrings`, of the tests and the other folders of AROUND."""
    return house_words.vague_docstrings(sources(root, AROUND))


# Figures that may only fall, by their names in the budgets
COUNTERS = {
    "functions": ("functions named by a participle or adjective", house_words.participle_functions),
    "participles": ("classes named by a participle or adjective", house_words.participle_classes),
    "docstrings": (
        "docstrings that begin with What, Of, The same, One or No, or say nothing",
        house_words.vague_docstrings,
    ),
    "docstrings-of-tests": (
        "docstrings of tests, benchmarks, tools and docs/_ext that begin so or say nothing",
        vague_docstrings_around,
    ),
    "locals": ("uses of locals named found, given, made, said, told, asked, taken", house_words.vague_locals),
    "classes": ("names of classes used twice or more", house_words.repeated_classes),
    "files": ("names of files used twice or more", house_words.repeated_files),
    "stale": ("mentions of files that do not exist", house_words.stale_mentions),
}
LISTS = {
    "tables": lambda trees: tables(trees, operator_names()),
    "families": family_comparisons,
    "single": single_importers,
    **{name: function for name, (_, function) in COUNTERS.items()},
}


def figures(*, static: bool = False) -> Figures:
    """All figures of this tree."""
    trees = sources()
    held, single = LISTS["tables"](trees), single_importers(trees)
    result = sizes(trees) | {
        "code lines": sum(code_by_room(trees).values()),
        "code lines of tests": code_by_room(sources(ROOT, ("tests",)))["tests"],
        "comment lines for 100 lines of code": comment_share(trees),
        **{text: len(function(trees)) for text, function in COUNTERS.values()},
        "tables of operator names": len(held),
        "of these, tables that dispatch": sum(line.endswith("dispatch") for line in held),
        "files with tables of operator names": len({line.partition(":")[0] for line in held}),
        "comparisons with family names": len(family_comparisons(trees)),
        "modules with one importer": len(single),
        "of these, in the folder of the importer": len(beside(single)),
    }
    if not static:
        result |= {"modules imported by tvmq.load": measured(LOADED), "Views made by one quantize": measured(VIEWS)}
    return result


def exceeded_budgets(budgets: Budgets, trees: Sources, root: Path = ROOT) -> list[str]:
    """A sentence for each budget that the tree exceeds, and for each room without one."""
    rooms, lines = budgeted_code(trees, root), []
    for room, code in rooms.items():
        budget = budgets["code lines"].get(room)
        if budget is None:
            lines.append(f"{room} has {code} lines of code and no budget: add its line to {BUDGETS.name}")
        elif code > budget:
            lines.append(
                f"{room} has {code} lines of code, {code - budget} above its budget of {budget}: take code out, "
                f"or raise the line in {BUDGETS.name} and say why in the commit's message"
            )
    for name, (text, function) in COUNTERS.items():
        count, budget = len(function(trees)), budgets["counters"][name]
        if count > budget:
            lines.append(
                f"{count} {text}, {count - budget} above the bound of {budget}, which may only fall: "
                f"see python tools/house_numbers.py --list {name}"
            )
    return lines


def lowered_budgets(budgets: Budgets, trees: Sources, root: Path = ROOT) -> Budgets:
    """Budgets brought down to what the tree has; none is raised, and rooms that are gone have none."""
    rooms = budgeted_code(trees, root)
    counts = {name: len(function(trees)) for name, (_, function) in COUNTERS.items()}
    return {
        "code lines": {room: min(code, budgets["code lines"].get(room, code)) for room, code in rooms.items()},
        "counters": {name: min(count, budgets["counters"].get(name, count)) for name, count in counts.items()},
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line; see the head of this file."""
    parser = argparse.ArgumentParser(description="The sources in figures.")
    parser.add_argument("--json", action="store_true", help="JSON instead of a table")
    parser.add_argument("--static", action="store_true", help="run nothing of tvmq")
    parser.add_argument("--list", choices=LISTS, help="what a figure counts")
    parser.add_argument("--check", action="store_true", help=f"exit with 1 where {BUDGETS.name} is exceeded")
    parser.add_argument("--lower", action="store_true", help=f"bring {BUDGETS.name} down to what the tree has")
    options = parser.parse_args(arguments)
    sys.path.insert(0, str(ROOT))
    if options.check or options.lower:
        budgets, trees = json.loads(BUDGETS.read_text(encoding="utf-8")), sources()
        if options.lower:
            budgets = lowered_budgets(budgets, trees)
            BUDGETS.write_text(json.dumps(budgets, indent=2) + "\n", encoding="utf-8")
        lines = exceeded_budgets(budgets, trees)
        sys.exit("\n".join(lines) or None)
    if options.list:
        print("\n".join(LISTS[options.list](sources())))
        return
    result = figures(static=options.static)
    if options.json:
        print(json.dumps(result, indent=1))
    else:
        print("\n".join(["| figure | value |", "| --- | ---: |", *(f"| {k} | {v} |" for k, v in result.items())]))


if __name__ == "__main__":
    main()
