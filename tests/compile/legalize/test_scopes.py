"""Marks of TVM's own loops that make LLVM's code generator warn."""

from __future__ import annotations

import numpy as np
import tvm

import tvmq
from tests.models import Net
from tvmq.compile.legalize.scopes import MARK, without_scopes
from tvmq.compile.vm_pipeline import legalize

MARKED = """
# from tvm.script import ir as I
# from tvm.script import tirx as T
@I.ir_module
class Module:
    @T.prim_func
    def loops(A: T.Buffer((8,), "float32")):
        with T.attr(0, "pragma_scope", "seq"):
            with T.attr(0, "pragma_unroll_explicit", 0):
                for i in range(8):
                    A[i] = T.float32(1)
"""


def test_a_scatter_compiles_in_silence(uncached, capfd):
    net = Net((1, 8))
    places, ones = net.constant(np.array([[1, 2]])), net.constant(np.ones((1, 2), np.float32))
    mod, params = tvmq.from_onnx(net.model(net.op("ScatterElements", "x", places, ones, axis=1)))
    with tvm.target.Target("llvm"):
        loops = legalize(mod)
    assert MARK not in loops.script() and without_scopes(loops) is loops
    exe = tvmq.build(mod, params=params)
    assert exe(np.zeros((1, 8), np.float32)).tolist() == [[0, 1, 1, 0, 0, 0, 0, 0]]
    assert "Warning" not in capfd.readouterr().err


def test_only_the_mark_goes():
    marked = tvm.script.from_source(MARKED)
    plain = without_scopes(marked)["loops"].script()
    assert MARK not in plain and "pragma_unroll_explicit" in plain and plain.count("A[i]") == 1
    assert MARK in marked.script()
