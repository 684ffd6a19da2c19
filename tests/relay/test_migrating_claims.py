"""Claims of MIGRATING.md about building, texts, passes and test networks that no other test of this folder checks."""

from __future__ import annotations

import re

import numpy as np
import pytest
import tvm
import tvm_ffi

import tvmq
from tests.support.project import ROOT
from tvmq import relay
from tvmq.errors import ModelError
from tvmq.relay import graph_executor, transform
from tvmq.relay.tvm import runtime

DEVICE = tvm.cpu(0)


def table(heading: str) -> dict[str, str]:
    """The cells of a table of two columns below a heading."""
    text = (ROOT / "MIGRATING.md").read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line.startswith("| ")
    ]
    return {row[0]: row[1] for row in rows}


@pytest.fixture(scope="module")
def library():
    x, w = relay.var("x", shape=(2, 3)), relay.var("w", shape=(4, 3))
    params = {"w": np.arange(12, dtype="float32").reshape(4, 3)}
    return relay.build(relay.IRModule.from_expr(relay.nn.dense(x, w)), "llvm", params=params), params


def test_weights_are_constants(library):
    lib, params = library
    assert lib.get_params() == {} == lib.params and lib.graph_json == lib.get_graph_json()
    module = graph_executor.GraphModule(lib["default"](DEVICE))
    assert module.get_num_inputs() == 1
    module.set_input(**params)  # names no input, and sets nothing
    module.run(x=np.ones((2, 3)))
    np.testing.assert_array_equal(module.get_output(0).numpy(), np.ones((2, 3)) @ params["w"].T)


def test_one_file_whatever_its_suffix(library, tmp_path):
    lib, _ = library
    x = {"x": np.ones((2, 3), "float32")}
    for name in ("net.so", "net.tar", "net.tvmq"):
        lib.export_library(tmp_path / name)
        found = [tvmq.load(tmp_path / name).run(x)[0], runtime.load_module(tmp_path / name).executable.run(x)[0]]
        np.testing.assert_array_equal(*found)


def test_inputs_are_copied(library):
    lib, params = library
    module = graph_executor.GraphModule(lib["default"](DEVICE))
    value = np.ones((2, 3), "float32")
    module.set_input_zero_copy("x", value)
    value[:] = 7
    module.run()
    np.testing.assert_array_equal(module.get_output(0).numpy(), np.ones((2, 3)) @ params["w"].T)
    assert not hasattr(module, "set_output_zero_copy")


def test_the_debugger_prints(library, capsys):
    lib, _ = library
    module = relay.debug_executor.GraphModuleDebug(lib["debug_create"]("default", DEVICE), [DEVICE], lib.graph_json)
    module.run(x=np.ones((2, 3)))
    assert "share" in capsys.readouterr().out


@pytest.mark.parametrize("level", [0, 3])
def test_no_opt_level_changes_a_build(library, level):
    lib, params = library
    mod = lib.ir_mod
    with transform.PassContext(opt_level=level, disabled_pass=["FoldConstant"]):
        again = relay.build(mod, "llvm", params=params)
    assert again.executable.kernels == lib.executable.kernels


def test_ties_of_round():
    values = relay.const(np.float32([0.5, 1.5, 2.5, -0.5, -1.5]))
    found = relay.create_executor().evaluate(relay.round(values)).numpy()
    assert found.tolist() == [0, 2, 2, 0, -2]


@pytest.mark.parametrize("text", ["if (%x) { %x } else { %x }", "match (%x) { }", "ref(%x)", "ref_read(%x)"])
def test_texts_of_more_than_straight_lines(text):
    source = f'#[version = "0.0.5"]\ndef @main(%x: bool) {{\n  {text}\n}}\n'
    with pytest.raises(ModelError, match=r"line 3|:3:"):
        relay.parse(source)


NOTHING = [name for row in table("Passes") if "nothing" in table("Passes")[row] for name in re.findall(r"`(\w+)`", row)]


def test_passes_that_do_nothing_are_named():
    assert set(NOTHING) == set(transform._NOTHING_LEFT)


@pytest.mark.parametrize("name", NOTHING)
def test_passes_that_do_nothing_leave_a_module_as_it_is(name):
    x = relay.var("x", shape=(2, 3))
    mod = relay.IRModule.from_expr(relay.nn.bias_add(relay.reshape(relay.reshape(x, (3, 2)), (2, 3)), relay.var("b")))
    after = getattr(transform, name)()(mod)
    assert tvm_ffi.structural_equal(after.relax["main"], mod.relax["main"])
    assert relay.analysis.well_formed(after)


def test_every_pass_has_a_line():
    listed = {name for row in table("Passes") for name in re.findall(r"`(\w+)`", row)}
    names = {
        name.partition(".")[2] for name in (ROOT / "tvmq/relay/names.txt").read_text().split() if "transform." in name
    }
    made = {"PassContext", "Sequential", "module_pass", "function_pass", "CombineParallelBatchMatmul"}
    assert listed == names - made


def test_functions_of_a_pass_are_seen_as_relays():
    @transform.function_pass(opt_level=1)
    class Scaled:
        def __init__(self, factor):
            self.factor = factor

        def transform_function(self, func, mod, context):
            factor = self.factor

            class Multiply(relay.ExprMutator):
                def visit_constant(self, const):
                    return relay.multiply(factor, const)

            return Multiply().visit(func)

    x = relay.var("x", shape=(2,))
    mod = relay.IRModule.from_expr(relay.Function([x], x + relay.const(np.float32([1, 2]))))
    steps = transform.Sequential([Scaled(relay.const(3.0)), transform.FoldConstant()])
    assert relay.create_executor("graph", steps(mod)).evaluate()(np.ones(2)).numpy().tolist() == [4, 7]
    assert mod["main"].body.args[1].data.numpy().tolist() == [1, 2]


@pytest.mark.parametrize("name", ["check_grad", "darknet", "tf", "tflite", "yolo_detection"])
def test_test_helpers_that_are_not_here(name):
    with pytest.raises(AttributeError, match="read such models through ONNX"):
        getattr(relay.testing, name)
