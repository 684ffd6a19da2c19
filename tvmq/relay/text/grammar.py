"""The grammar of Relay's text, version 0.0.5, for lark (LALR).

Comments, the version line and the metadata section are taken off before (`parser.py`). Beyond the format: names of
variables may hold dots and double colons (`%layer1.0.weight`, `%aten::linear_0.weight`), as importers printed them
and Relay's own parser refused. A variable's token therefore takes its projection along (`%x.0`), and the reader, who
knows which names are declared, tells them apart.

`[x]` gives None where x is absent, `(x)?` nothing.
"""

from __future__ import annotations

GRAMMAR = r"""
text: def*
def: "def" GLOBAL func

func: ("[" name ("," name)* "]")? "(" (param ("," param)* ","?)? ")" ["->" type] "{" block "}"
param: VARIABLE ("{" (pair ("," pair)*)? "}")? [":" type]   -> typed
     | pair

block: (stmt ";")* binop
stmt: VARIABLE "=" binop                        -> bind
    | "let" VARIABLE [":" type] "=" binop       -> let
    | "free_var" VARIABLE [":" type]            -> free
    | binop                                     -> unnamed

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
       | GLOBAL             -> global_
       | name               -> operator
       | meta
       | "fn" func          -> fn
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
