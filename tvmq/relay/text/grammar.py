"""The grammar of Relay's text, version 0.0.5, for lark (LALR).

Comments, the version line and the metadata section are taken off before (`parser.py`). Beyond the format: names of
variables may hold dots and double colons (`%layer1.0.weight`, `%aten::linear_0.weight`), as importers printed them
and Relay's own parser refused. A variable's token therefore takes its projection along (`%x.0`), and the reader, who
knows which names are declared, tells them apart.

`[x]` gives None where x is absent, `(x)?` nothing.

Numbers of Relay's text: the type is a suffix.

Tests: tests/relay/test_text.py
"""

from __future__ import annotations

import re

import numpy as np

from tvmq.relay.text.syntax_tree import Number

GRAMMAR = r"""
text: def*
def: "def" GLOBAL func

func: ("[" name ("," name)* "]")? "(" (param ("," param)* ","?)? ")" ["->" type] "{" block "}"
?param: VARIABLE ("{" (pair ("," pair)*)? "}")? [":" type]  -> typed_param
      | pair

block: (stmt ";")* binop
stmt: VARIABLE "=" binop                        -> bind
    | "let" VARIABLE [":" type] "=" binop       -> let
    | "free_var" VARIABLE [":" type]            -> free_variable
    | binop                                     -> statement

?binop: equation
?equation: comparison | equation EQUAL comparison       -> operation
?comparison: sum | comparison ORDER sum                 -> operation
?sum: product | sum SUM product                         -> operation
?product: call | product PRODUCT call                   -> operation

?call: atom | call "(" (arg ("," arg)* ","?)? ")"       -> apply
?arg: block | pair
pair: IDENT "=" value

?atom: simple | simple PROJECT                          -> project
?simple: NUMBER             -> number
       | TRUE               -> truth
       | FALSE              -> truth
       | VARIABLE           -> variable
       | GLOBAL             -> global_function
       | name
       | meta
       | "fn" func
       | IF "(" block ")" "{" block "}" "else" "{" block "}"   -> choice
       | "(" ")"                                        -> tuple_of
       | "(" block ")"
       | "(" block "," (block ("," block)* ","?)? ")"   -> tuple_of
       | "{" block "}"
name: IDENT
meta: "meta" "[" IDENT "]" "[" NUMBER "]"

?value: NUMBER              -> literal
      | TRUE                -> truth_value
      | FALSE               -> truth_value
      | NONE                -> none
      | STRING              -> string
      | IDENT               -> word
      | meta
      | VARIABLE            -> variable
      | "[" (value ("," value)* ","?)? "]"  -> values
      | "(" (value ("," value)* ","?)? ")"  -> values

?type: "Tensor" "[" "(" (dim ("," dim)* ","?)? ")" "," IDENT "]"   -> tensor_note
     | IDENT                                                       -> scalar_note
     | "(" (type ("," type)* ","?)? ")"                            -> tuple_note
     | "fn" "(" (type ("," type)*)? ")" "->" type                  -> function_note
dim: NUMBER | ANY | meta

ANY: "?"
IF: "if"
TRUE: "True"
FALSE: "False"
NONE: "None" | "nullptr"
EQUAL: "==" | "!="
ORDER: "<=" | ">=" | "<" | ">"
SUM: "+" | "-"
PRODUCT: "*" | "/"
VARIABLE: /%[A-Za-z0-9_\/]+(?:(?:\.|::)[A-Za-z0-9_\/]+)*/
GLOBAL: /@[A-Za-z_][A-Za-z0-9_\/]*(?:\.[A-Za-z0-9_]+)*/
PROJECT: /\.\d+/
NUMBER.2: /-*(?:(?:inf|nan)f?(?:16|32|64)?(?![A-Za-z0-9_])|\d[0-9.]*(?:[eE][-+]?\d+)?(?:[fiu](?:\d+)?)?)/
IDENT: /[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*/
STRING: /"[^"]*"/
%ignore /\s+/
"""


FORM = re.compile(r"(-*)(inf|nan|\d[0-9.]*(?:[eE][-+]?\d+)?)([fiu]?)(\d*)")
WIDTHS = {"f": ("16", "32", "64"), "i": ("8", "16", "32", "64"), "u": ("8", "16", "32", "64")}
KINDS = {"f": "float", "i": "int", "u": "uint"}


def read_number(text: str, line: int = 0) -> Number:
    """A number with its type: `12` is int32, or int64 where it does not fit; `1.5f` float32; `-` signs cancel.

    raises  ValueError for a fraction without `f`, a width that does not exist, or a value that the type cannot hold

    >>> read_number("1e-05f").value, read_number("--10"), read_number("12i64").dtype, read_number("3000000000").dtype
    (1e-05, Number(value=10, dtype='int32', line=0), 'int64', 'int64')
    """
    match = FORM.fullmatch(text)
    if match is None:
        raise ValueError(f"'{text}' is no number")
    signs, digits, kind, width = match.groups()
    sign = -1 if len(signs) % 2 else 1
    if digits in ("inf", "nan"):
        kind = "f"
    if width and width not in WIDTHS[kind]:
        raise ValueError(f"'{text}' has {width} bits; there are {', '.join(WIDTHS[kind])}")
    if kind == "f":
        return Number(sign * float(digits), f"float{width or 32}", line)
    if not digits.isdigit():
        raise ValueError(f"'{text}' is a fraction, and ends in f: {text}f")
    return Number(sign * int(digits), _integer_type(text, sign * int(digits), kind, width), line)


def _integer_type(text: str, value: int, kind: str, width: str) -> str:
    small = np.iinfo("int32").min <= value <= np.iinfo("int32").max
    dtype = f"{KINDS[kind or 'i']}{width or (32 if small else 64)}"
    if not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
        raise ValueError(f"'{text}' does not fit into {dtype}")
    return dtype
