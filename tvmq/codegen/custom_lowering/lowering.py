"""`Lowering`: which operators of the integer module become what code of the user's.

Tests: tests/codegen/custom_lowering/test_libraries.py
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tvm import tirx
from tvm.relax.transform import FusionPattern

from tvmq.base.by_name import is_object_name, object_named
from tvmq.errors import ConfigError
from tvmq.graph.names import identifier
from tvmq.graph.patterns.pattern import PatternNode, operators, read_pattern, spine

STAGE = "build(lowerings=...)"


@dataclass(frozen=True)
class Extern:
    """A function of a library.

    symbol      its name
    library     path of a shared library (.so) that is loaded, or of an object file (.o) that is linked into the model;
                None: the process has it (another library, or a function registered with TVM)
    convention  "pointers": a function of C that takes the addresses of inputs, constants and result, in this order,
                what it returns is ignored; "packed": one of TVM's (__tvm_ffi_<symbol>, or a global function), which
                takes them as DLTensors
    extra       (match) -> whole numbers that follow the addresses (int64_t), for example the sides of a picture

    raises      ConfigError for another convention or kind of file

    >>> Extern("my_chip_conv", "libmychip.so").convention
    'pointers'
    """

    symbol: str
    library: str | os.PathLike[str] | None = None
    convention: str = "pointers"
    extra: Callable[[Any], Sequence[int]] | None = None

    def __post_init__(self) -> None:
        parts = str(self.symbol).split("." if self.convention == "packed" and self.library is None else "\n")
        if not isinstance(self.symbol, str) or not all(map(str.isidentifier, parts)):
            raise ConfigError(f"Extern: symbol must be the name of a function of C. Got {self.symbol!r} instead")
        if self.convention not in ("pointers", "packed"):
            raise ConfigError(
                f"Extern '{self.symbol}': convention must be 'pointers' or 'packed'. Got {self.convention!r} instead"
            )
        if self.library is not None and Path(self.library).suffix not in (".so", ".o"):
            raise ConfigError(
                f"Extern '{self.symbol}': a library is a .so or a .o file. Got '{self.library}' instead; link it to a "
                "shared library"
            )
        if self.extra is not None and self.convention == "packed":
            raise ConfigError(
                f"Extern '{self.symbol}': extra= numbers follow addresses; a packed function reads shapes from its "
                "tensors: leave extra= out"
            )


@dataclass(frozen=True)
class Codegen:
    """A code generator of TVM: the global function relax.ext.<name>, as FuseOpsByPattern and RunCodegen use it.

    name      of the generator
    options   that RunCodegen gives it

    >>> Codegen("my_chip").options
    {}
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.isidentifier():
            raise ConfigError(
                f"Codegen: name must be that of a code generator, relax.ext.<name>. Got {self.name!r} instead"
            )


@dataclass(frozen=True, eq=False)
class Lowering:
    """A pattern of integer operators, and what computes it.

    pattern     which operators, the last one gives the result: names ("nn.conv2d -> add? -> tvmq.requantize", each
                reads the one before, "?" may be absent, attributes in brackets: nn.conv2d[groups=1]); an expression
                ("add(nn.conv2d(x, const(w), groups=1), const(bias))"); a pattern of tvm.relax.dpl; or what TVM's
                pattern tables hold: (name, pattern[, annotations[, check]]), a FusionPattern
    to          a tirx.PrimFunc of inputs, constants and result;
                a function (Match) -> PrimFunc, or TE tensor made of match.placeholders(), or (PrimFunc, constants)
                where the constants are others than the match's (packed weights); a text says why it does not take
                this match; an Extern, or a Codegen
    name        for explain and verify; by default that of the pattern, else of its operators
    definition  (match, *inputs, *constants) -> what the function computes, in NumPy. `verify` compares it, and the
                code, with the definition of the module
    check       (match) -> True, or why it is not taken

    A layer that is taken is computed by this alone, so it must equal the definition of its operators in all bits:
    `tvmq.verify` says whether it does. Operators that others read are not taken: they would not exist any more.
    raises   ConfigError for another kind of pattern or `to`

    >>> Lowering("nn.conv2d -> add -> tvmq.requantize", Extern("my_conv", "libmychip.so")).name
    'conv2d_add_requantize'
    """

    pattern: Any
    to: Any
    name: str = field(default="", kw_only=True)
    definition: Callable[..., Any] | None = field(default=None, kw_only=True)
    check: Callable[[Any], Any] | None = field(default=None, kw_only=True)
    node: PatternNode = field(init=False, repr=False)
    annotations: Mapping[str, Any] = field(default_factory=dict, init=False, repr=False)
    context_check: Callable[[Any], bool] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        name, pattern, annotations, check = _parts(self.pattern)
        where = f"Lowering {self.name or name or str(self.pattern)!r}"
        node = read_pattern(pattern, where)
        full_name = self.name or name or "_".join(call.name.split(".")[-1] for call in _distinct(node))
        if not isinstance(self.to, tirx.PrimFunc | Extern | Codegen) and not callable(self.to):
            raise ConfigError(
                f"{where}: to= is a PrimFunc, a function of the match, tvmq.extension.Extern or Codegen. Got a "
                f"{type(self.to).__name__} instead"
            )
        for option, value in (("definition", self.definition), ("check", self.check)):
            if value is not None and not callable(value):
                raise ConfigError(f"{where}: {option}= is a function. Got a {type(value).__name__} instead")
        fields = {"name": full_name, "node": node, "annotations": annotations, "context_check": check}
        for key, one in fields.items():
            object.__setattr__(self, key, one)

    @property
    def kind(self) -> str:
        """Description of the code that computes it: a symbol, a code generator, or a function of the user."""
        if isinstance(self.to, Extern):
            place = f" of {Path(self.to.library).name}" if self.to.library is not None else ""
            return f"symbol {self.to.symbol}{place}"
        return f"code generator {self.to.name}" if isinstance(self.to, Codegen) else "own function"

    @property
    def begins(self) -> str:
        """Its first operator, along the longest way."""
        return spine(self.node)[0].node.name

    @property
    def symbol(self) -> str:
        """The name as part of a symbol."""
        return identifier(self.name)


def _distinct(node: PatternNode) -> list[Any]:
    return list({id(call): call for call in operators(node)}.values())


def _parts(pattern: Any) -> tuple[str, Any, Mapping[str, Any], Any]:
    """(name, pattern, annotations, check) of all forms that TVM takes."""
    if isinstance(pattern, FusionPattern):
        annotations = {str(key): value for key, value in pattern.annotation_patterns.items()}
        return str(pattern.name), pattern.pattern, annotations, getattr(pattern, "check", None)
    if isinstance(pattern, tuple) and 2 <= len(pattern) <= 4 and isinstance(pattern[0], str):
        more = dict(enumerate(pattern))
        return pattern[0], pattern[1], dict(more.get(2) or {}), more.get(3)
    return "", pattern, {}, None


def lowerings_of(lowerings: Iterable[Any] | None, backend: Any = None) -> list[Lowering]:
    """Those that build was given, then those of the backend; names become objects.

    raises   ConfigError for anything that is no Lowering, and for two of one name
    """
    if isinstance(lowerings, Lowering | str):
        lowerings = [lowerings]
    objects: list[Lowering] = []
    for item in (*(lowerings or ()), *getattr(backend, "lowerings", ())):
        lowering = object_named(item, STAGE, "lowering") if is_object_name(item) else item
        if not isinstance(lowering, Lowering):
            raise ConfigError(
                f'{STAGE}: a lowering is a tvmq.Lowering or the "module:object" of one. Got {item!r} instead'
            )
        if any(lowering is known for known in objects):
            continue
        if any(lowering.name == known.name for known in objects):
            raise ConfigError(f"{STAGE}: two lowerings are called '{lowering.name}'; give one of them another name=")
        objects.append(lowering)
    return objects
