"""Calls of a compiled module: all that run, in order, and the layers that each of them computes."""

import pytest
import tvm
from tvm import relax

import tvmq
from tests.support.models.networks import Net, feeds_of
from tvmq.codegen.compile.calls import calls_of
from tvmq.codegen.compile.vm_pipeline import compile_module
from tvmq.codegen.lower.lower_functions import lower_functions
from tvmq.codegen.lower.lowerer import Lowerer
from tvmq.codegen.target.cpu import resolve_target
from tvmq.passes.prepare import prepare


def lowered(mod):
    """Lower a module as `build` does."""
    return lower_functions(mod, lambda part, shared: Lowerer(part, resolve_target().isa, shared=shared))[0]


def islands():
    """Convolutions with a float operator of no integer form between them."""
    n = Net((1, 8, 12, 12))
    model = n.model(n.conv(n.op("Trilu", n.conv("x", 8, 16)), 16, 8, 1))
    return tvmq.quantize(*tvmq.from_onnx(model), feeds_of(model), guard=None)


def floats():
    """Operators that TVM fuses between convolutions."""
    n = Net((1, 8, 12, 12))
    y = n.op("Cos", n.op("Neg", n.conv("x", 8, 16)))
    model = n.model(n.conv(n.op("Sin", n.op("Add", y, n.op("Abs", y))), 16, 8, 1))
    return prepare(*tvmq.from_onnx(model))


@pytest.mark.slow
@pytest.mark.parametrize("model", [islands, floats])
def test_calls_are_those_that_run(model):
    low = lowered(model())
    calls = calls_of(low, resolve_target())
    machine = relax.VirtualMachine(compile_module(low, resolve_target()).code, tvm.cpu())
    called = []

    def note(_func, symbol, before, _result, *_args):
        if before and not symbol.startswith("vm.builtin"):
            called.append(symbol)

    machine.set_instrument(note)
    machine["main"](tvm.runtime.tensor(feeds_of(Net((1, 8, 12, 12)).model(), 1)[0]["x"]))
    assert len(called) == len(calls)
    assert [symbol for symbol in called if "kernel_" in symbol] == [c.symbol for c in calls if c.kernel]


def test_every_binding_belongs_to_one_call():
    low = lowered(floats())
    found = [member for call in calls_of(low, resolve_target()) for member in call.members]
    computed = [
        binding.var.name
        for block in low["main"].body.blocks
        for binding in block.bindings
        if binding.value.op.name != "relax.reshape"
    ]
    assert sorted(found) == sorted(computed)
    fused = max(calls_of(low, resolve_target()), key=lambda call: len(call.members))
    assert len(fused.members) >= 4 and fused.var == fused.members[-1] and not fused.kernel


@pytest.mark.slow
def test_shapes_of_what_is_read_and_written():
    calls = calls_of(lowered(islands()), resolve_target())
    kernels = [call for call in calls if call.kernel.startswith("conv2d")]
    assert kernels[0].inputs[0][1] == "uint8" and kernels[0].constants[0][1] in ("int8", "int16")
    assert all(call.outputs for call in calls)
