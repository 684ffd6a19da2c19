"""Words of the sources that hinder a search: each function lists the places of one kind.

Tests: tests/scripts/test_house_words.py
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
Sources = dict[Path, ast.Module]
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

IRREGULAR_PARTICIPLES = frozenset(
    """begun bound bought broken brought built caught chosen cut drawn driven fed fit forgotten found frozen given gone
    grown held hidden kept known laid left lost made meant met paid proven read run said seen sent set shown split
    spread stuck taken taught thought told understood won worn written""".split()
)
ADJECTIVES = frozenset(
    """any best big both common contiguous dead direct doubtful dynamic empty equal exact far few finite flat free full
    highest identical integral large larger largest late least like long narrow native near nearest needed
    next opaque other own plain portable possible ready real same short single slow slower small smaller smallest static
    symmetric twice unsigned wide wider widest whole worst wrong""".split()
)
PRESENT_PARTICIPLES = frozenset(
    """asking behind beside carrying ending falling fitting following lacking looking mending missing observing passing
    refusing rising surrounding waiting wrapping""".split()
)
# An imperative, or a noun, that looks like one of the above
VERBS_AND_NOUNS = frozenset("cut embed fit read run set split spread".split())
# The ends of a range, as in `numpy.random.uniform(low, high)`: properties of `tvmq.QParams` and of observers
VERBS_AND_NOUNS |= {"low", "high"}
OPENINGS = re.compile(r"(What|Of|The same|One|No)\b|See the head of this file|For JSON\.|See `?\w+`?\.$")
# tvmq/relay offers names of Relay and TVM (Any, full, empty): public names of this folder are not ours to choose
GUESTS = "tvmq/relay/"
# What users read off results: verify(...).exact, compare(...).worst(3). Renaming would break their scripts for nothing
PUBLIC = frozenset(("exact", "worst"))
VAGUE_LOCALS = frozenset("found given made said told asked taken".split())
# file.py:function is what a user types on a command line, an example and no source of ours
MENTION = re.compile(r"(?<![\w/.*-])((?:[\w-]+/)*[a-z_]\w*\.py)\b(?!:[a-z_])")


@cache
def nodes_of(tree: ast.Module) -> tuple[ast.AST, ...]:
    """All nodes of a syntax tree."""
    return tuple(ast.walk(tree))


@cache
def tokens_of(text: str) -> tuple[tokenize.TokenInfo, ...]:
    """Tokens of a source text."""
    return tuple(tokenize.generate_tokens(io.StringIO(text).readline))


@cache
def definitions_of(tree: ast.Module) -> tuple[Definition, ...]:
    """All functions, methods and classes of a file, nested ones too."""
    return tuple(node for node in nodes_of(tree) if isinstance(node, Definition))


def is_participle(word: str) -> bool:
    """True for a bare participle or adjective.

    >>> is_participle("rounded"), is_participle("found"), is_participle("speed"), is_participle("read")
    (True, True, False, False)
    """
    if word in VERBS_AND_NOUNS:
        return False
    vague = IRREGULAR_PARTICIPLES | ADJECTIVES | PRESENT_PARTICIPLES
    return word in vague or re.fullmatch(r"[a-z]{2,}[^e]ed", word) is not None


def is_ours(path: Path, name: str) -> bool:
    """True for a name that can be chosen here, see GUESTS and PUBLIC.

    >>> is_ours(Path("tvmq/relay/types.py"), "Any"), is_ours(Path("tvmq/relay/types.py"), "_Any")
    (False, True)
    """
    return name not in PUBLIC and (name.startswith("_") or not path.as_posix().startswith(GUESTS))


def participle_functions(trees: Sources) -> list[str]:
    """Functions whose whole name is a participle or an adjective."""
    return [
        f"{path}:{node.lineno}: {node.name}"
        for path, tree in trees.items()
        for node in definitions_of(tree)
        if not isinstance(node, ast.ClassDef) and is_participle(node.name.strip("_")) and is_ours(path, node.name)
    ]


def participle_classes(trees: Sources) -> list[str]:
    """Classes whose whole name is a participle or an adjective."""
    return [
        f"{path}:{node.lineno}: {node.name}"
        for path, tree in trees.items()
        for node in definitions_of(tree)
        if isinstance(node, ast.ClassDef) and is_participle(node.name.strip("_").lower()) and is_ours(path, node.name)
    ]


def vague_docstrings(trees: Sources) -> list[str]:
    """Docstrings that begin with a word which names nothing, or refer to another place."""
    lines = []
    for path, tree in trees.items():
        for node in (tree, *definitions_of(tree)):
            text = ast.get_docstring(node)
            if text and OPENINGS.match(text):
                lines.append(f"{path}:{getattr(node, 'lineno', 1)}: {text.splitlines()[0]}")
    return lines


def vague_locals(trees: Sources) -> list[str]:
    """Uses of local variables and arguments that are named by a participle."""
    return [
        f"{path}:{node.lineno}: {name}"
        for path, tree in trees.items()
        for node in nodes_of(tree)
        if (name := getattr(node, "id", None) or getattr(node, "arg", None)) in VAGUE_LOCALS
        and isinstance(node, ast.Name | ast.arg)
    ]


def repeated_classes(trees: Sources) -> list[str]:
    """Names of classes that several files define."""
    places = defaultdict(list)
    for path, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and is_ours(path, node.name):
                places[node.name].append(str(path))
    return [f"{name}: {', '.join(paths)}" for name, paths in sorted(places.items()) if len(paths) > 1]


def repeated_files(trees: Sources) -> list[str]:
    """File names that occur in several folders."""
    names = Counter(path.name for path in trees if path.name not in ("__init__.py", "__main__.py"))
    return [f"{name}: {count}" for name, count in sorted(names.items()) if count > 1]


def stale_mentions(trees: Sources, root: Path = ROOT) -> list[str]:
    """Files that a docstring or comment names and that do not exist."""
    folders = ("tvmq", "passes", "tests", "tools", "benchmarks", "docs", "examples")
    existing = [path.relative_to(root).as_posix() for folder in folders for path in (root / folder).rglob("*.py")]
    names = {path.rpartition("/")[2] for path in existing}
    return [
        f"{path}:{line}: {mention}"
        for path, tree in trees.items()
        for line, text in comments_and_texts(tree, (root / path).read_text(encoding="utf-8"))
        for mention in MENTION.findall(text)
        if not (any(f"/{other}".endswith(f"/{mention}") for other in existing) if "/" in mention else mention in names)
    ]


def comments_and_texts(tree: ast.Module, source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each comment, and of each text that is a statement of its own (a docstring)."""
    for token in tokens_of(source):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in nodes_of(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value
