"""Workaround for LLVM: stores of single elements of a vector; the integer transformer runs them in whole models."""

import numpy as np
import pytest
import tvm

from tests.support.models.built_modules import build_module
from tvmq import numerics
from tvmq.codegen.compile import llvm_workarounds, vm_pipeline
from tvmq.codegen.target import cpu
from tvmq.codegen.target.host import missing_features
from tvmq.graph import ops

PARAMS = numerics.integer_softmax_params(0.02, 1 / 255)._asdict()
CODES = {"zero_point": 0, "dtype": "uint8", "qmin": 0, "qmax": 255, "axis": -1}
SHAPE = (2, 9, 9)  # rows of one element more than a vector of 64-bit numbers
STORE = "  call void @llvm.masked.store.v4i16.p0(<4 x i16> %7, ptr align 2 %b, <4 x i1> <{}>), !dbg !3"
SKYLAKE = "llvm -mcpu=skylake-avx512"


def softmax():
    mod = build_module({"x": (SHAPE, "int32")}, lambda _, x: ops.integer_softmax(x, **PARAMS, **CODES))
    functions = vm_pipeline.legalize(mod).functions_items()
    func = next(func for gvar, func in functions if gvar.name_hint == "integer_softmax")
    return func.with_attr("global_symbol", "softmax")


def compiled(name):
    aim = cpu.resolve_target(name)
    compiler = tvm.target.Target({**vm_pipeline.OPT_LEVEL, **aim.tvm})
    with compiler, tvm.transform.PassContext(**vm_pipeline.OPTIONS):
        return aim, tvm.tirx.build(tvm.IRModule({"softmax": softmax()}), target=compiler)


def lone(text):
    return [found for found in llvm_workarounds.MASKED_STORE.finditer(text) if found["mask"].count("true") == 1]


def test_a_row_of_nine_has_none_left():
    aim, library = compiled(SKYLAKE)
    assert lone(library.inspect_source("ll"))  # else this LLVM needs no repair any more
    whole = llvm_workarounds.with_whole_stores(library, aim)
    assert not lone(whole.inspect_source("ll"))
    # %rsp + 4 * index holds 32-bit numbers: a store of 64 bits there reaches into the next
    assert not [line for line in whole.inspect_source("s").splitlines() if "\tvmovq\t%xmm" in line and ",4)" in line]


@pytest.mark.slow
def test_results_are_the_definition():
    aim, library = compiled(SKYLAKE)
    if missing_features(aim.needs):
        pytest.skip("this CPU has no AVX-512")
    x = np.random.default_rng(0).integers(-999, 999, SHAPE).astype("int32")
    y = tvm.runtime.empty(SHAPE, "uint8")
    llvm_workarounds.with_whole_stores(library, aim)["softmax"](tvm.runtime.tensor(x), y)
    np.testing.assert_array_equal(y.numpy(), numerics.integer_softmax(x, **PARAMS, **CODES))


@pytest.mark.slow
def test_a_cpu_without_such_stores_keeps_its_code():
    aim, library = compiled("llvm -mcpu=haswell")
    assert llvm_workarounds.with_whole_stores(library, aim) is library


@pytest.mark.parametrize("index", range(4))
def test_any_element_may_be_the_one(index):
    mask = ", ".join(f"i1 {'true' if lane == index else 'false'}" for lane in range(4))
    name = "%lone.0"
    assert llvm_workarounds.expand_stores(STORE.format(mask)).splitlines() == [
        f"  {name} = extractelement <4 x i16> %7, i64 {index}",
        f"  {name}.p = getelementptr inbounds i16, ptr %b, i64 {index}",
        f"  store i16 {name}, ptr {name}.p, align 1, !dbg !3",
    ]


@pytest.mark.parametrize("mask", ["i1 true, i1 true, i1 false, i1 false", "i1 false, i1 false, i1 false, i1 false"])
def test_other_stores_stay(mask):
    assert llvm_workarounds.expand_stores(STORE.format(mask)) == STORE.format(mask)
