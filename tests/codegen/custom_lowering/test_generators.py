"""Code generators of TVM: by a lowering, and on modules on which the user ran FuseOpsByPattern."""

from __future__ import annotations

import re
import shutil
from typing import Any

import numpy as np
import pytest
import tvm
import tvm_ffi
from tvm import relax, tirx
from tvm.relax.dpl import is_const, is_op, wildcard

import tvmq
from tests.codegen.custom_lowering.chip import network, run
from tests.support.models.built_modules import build_module
from tvmq.errors import ArtifactError, BuildError, ConfigError, StageError
from tvmq.extension import Codegen

ADD = is_op("relax.tvmq.add")(wildcard(), wildcard())
TABLE = is_op("relax.tvmq.table")(wildcard(), is_const())


def composite(func: relax.Function) -> relax.Function:
    """The inner function that a code generator reads."""
    (inner,) = [b.value for block in func.body.blocks for b in block.bindings if isinstance(b.value, relax.Function)]
    return inner


def as_llvm(func: relax.Function, symbol: str) -> Any:
    """A function without constants, as TVM itself compiles it."""
    main = composite(func).without_attr("Composite").without_attr("Primitive").with_attr("global_symbol", "main")
    loops = relax.transform.LegalizeOps()(tvm.IRModule({"main": main}))
    (prim,) = [found for _, found in loops.functions_items() if isinstance(found, tirx.PrimFunc)]
    module = tvm.IRModule({symbol: prim.with_attr("global_symbol", symbol)})
    return tvm.tirx.build(module, target=tvm.target.Target({"kind": "llvm", "mcpu": "generic"}))


def as_c(func: relax.Function, symbol: str) -> Any:
    """A table lookup in C, the table inside."""
    (call,) = [b.value for block in composite(func).body.blocks for b in block.bindings]
    table = call.args[1].value.numpy()
    count = int(np.prod([int(size) for size in call.ty.shape]))
    source = f"""
#include <stdint.h>
#include <tvm/ffi/c_api.h>
static const uint8_t table[] = {{{", ".join(map(str, table))}}};
static DLTensor *tensor(const TVMFFIAny *arg) {{
    return arg->type_index == kTVMFFIDLTensorPtr ? arg->v_ptr : (void *)((char *)arg->v_obj + sizeof(TVMFFIObject));
}}
int32_t __tvm_ffi_{symbol}(void *self, const TVMFFIAny *args, int32_t count, TVMFFIAny *result) {{
    const uint8_t *x = tensor(&args[0])->data;
    uint8_t *y = tensor(&args[1])->data;
    for (int i = 0; i < {count}; i++) y[i] = table[x[i]];
    return 0;
}}
"""
    create = tvm_ffi.get_global_func("runtime.CSourceModuleCreate")
    return create(source, "c", [symbol], None)


class Generator:
    """relax.ext.<name>, with what it was given."""

    def __init__(self, name: str, make: Any) -> None:
        self.symbols: list[str] = []
        self.options: list[dict[str, Any]] = []

        def generate(functions: Any, options: Any, _names: Any) -> list[Any]:
            self.options.append({str(key): value for key, value in options.items()})
            self.symbols += [str(func.attrs["global_symbol"]) for func in functions]
            return [make(func, str(func.attrs["global_symbol"])) for func in functions]

        tvm_ffi.register_global_func(f"relax.ext.{name}", generate, override=True)


@pytest.mark.slow
def test_a_lowering_hands_operators_to_a_code_generator(tmp_path):
    mod, feeds = network()
    generator = Generator("test_adds", as_llvm)
    lowering = tvmq.Lowering(("sum", ADD), Codegen("test_adds", {"level": 3}))
    exe = tvmq.build(mod, lowerings=[lowering])
    np.testing.assert_array_equal(run(exe, feeds), run(tvmq.build(mod), feeds))
    assert generator.symbols == ["test_adds_sum"] and generator.options == [{"level": 3}]
    (check,) = tvmq.verify(exe, feeds).lowerings
    assert (check.kind, check.values, check.differing) == ("code generator test_adds", 1024, 0)
    exe.save(tmp_path / "m.tvmq")
    loaded = tvmq.load(tmp_path / "m.tvmq", num_threads=2)
    np.testing.assert_array_equal(run(loaded, feeds), run(exe, feeds))
    assert tvmq.verify(loaded, feeds).lowerings[0].differing == 0


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_a_generator_of_c(tmp_path):
    mod, feeds = network()
    Generator("test_tables", as_c)
    exe = tvmq.build(mod, lowerings=[tvmq.Lowering(TABLE, Codegen("test_tables"))])
    assert tvmq.verify(exe, feeds).exact
    exe.save(tmp_path / "m.tvmq")
    np.testing.assert_array_equal(run(tvmq.load(tmp_path / "m.tvmq"), feeds), run(exe, feeds))
    Generator("test_tables", lambda func, symbol: tvm_ffi.get_global_func("runtime.CSourceModuleCreate")("no C", "c", [symbol], None))
    with pytest.raises(BuildError, match="the C that a code generator gave does not compile"):
        tvmq.build(mod, lowerings=[tvmq.Lowering(TABLE, Codegen("test_tables"))])


@pytest.mark.slow
@pytest.mark.parametrize("annotate", [True, False])
def test_a_module_on_which_the_user_ran_fuse_ops_by_pattern(annotate: bool):
    mod, feeds = network()
    generator = Generator("test_fused", as_llvm)
    sums = is_op("relax.tvmq.table")(ADD, is_const()) if not annotate else ADD
    fused = relax.transform.FuseOpsByPattern([("test_fused.sum", sums)], annotate_codegen=annotate)(mod)
    exe = tvmq.build(fused)
    np.testing.assert_array_equal(run(exe, feeds), run(tvmq.build(mod), feeds))
    verification = tvmq.verify(exe, feeds)
    assert verification.exact and len(verification.lowerings) == int(annotate) == len(generator.symbols)
    text = str(tvmq.explain(exe))
    assert ("lowering 'test_fused.sum' (code generator test_fused) computes /add_3" in text) == annotate
    assert re.search(r"^/sigmoid_4 ", text, re.M), "layers keep their names"


@pytest.mark.slow
def test_constants_and_merged_functions_of_the_user():
    mod, feeds = network()
    Generator("test_whole", as_llvm)
    conv = is_op("relax.nn.conv2d")(wildcard(), is_const())
    patterns = [("test_whole.conv", is_op("relax.add")(conv, is_const())), ("test_whole.sum", ADD)]
    for run_passes in (
        [relax.transform.FuseOpsByPattern(patterns, bind_constants=True)],
        [relax.transform.FuseOpsByPattern(patterns, bind_constants=False)],
        [relax.transform.FuseOpsByPattern(patterns[1:]), relax.transform.MergeCompositeFunctions()],
    ):
        exe = tvmq.build(tvm.transform.Sequential(run_passes)(mod))
        assert tvmq.verify(exe, feeds).exact


def test_float_modules_of_the_user():
    one = relax.const(1.0)
    mod = build_module({"x": (1, 4)}, lambda builder, x: relax.op.nn.relu(builder.emit(relax.op.add(x, one))))
    pattern = is_op("relax.nn.relu")(is_op("relax.add")(wildcard(), wildcard()))
    fused = relax.transform.FuseOpsByPattern([("chip.relu", pattern)])(mod)
    values = np.float32([[-3, -1, 0, 2]])
    np.testing.assert_array_equal(tvmq.build(fused)(values), np.maximum(values + 1, 0))


@pytest.mark.slow
def test_a_module_on_which_the_user_ran_the_code_generator_too(tmp_path):
    mod, feeds = network()
    Generator("test_ran", as_llvm)
    passes = [relax.transform.FuseOpsByPattern([("test_ran.sum", ADD)], annotate_codegen=True), relax.transform.RunCodegen()]
    exe = tvmq.build(tvm.transform.Sequential(passes)(mod))
    np.testing.assert_array_equal(run(exe, feeds), run(tvmq.build(mod), feeds))
    exe.save(tmp_path / "m.tvmq")
    np.testing.assert_array_equal(run(tvmq.load(tmp_path / "m.tvmq"), feeds), run(exe, feeds))
    with pytest.raises(StageError, match="operators RunCodegen has removed; build the module that FuseOpsByPattern returned"):
        tvmq.verify(exe, feeds)


@pytest.mark.slow
def test_errors_are_one_sentence(tmp_path):
    mod, feeds = network()
    with pytest.raises(BuildError, match=r"is for the code generator 'nobody', and TVM has no relax.ext.nobody; import"):
        tvmq.build(mod, lowerings=[tvmq.Lowering(ADD, Codegen("nobody"))])
    fused = relax.transform.FuseOpsByPattern([("nobody.sum", ADD)], annotate_codegen=True)(mod)
    with pytest.raises(BuildError, match=r"TVM has no relax.ext.nobody"):
        tvmq.build(fused)
    Generator("test_fails", lambda func, symbol: 1 / 0)
    with pytest.raises(BuildError, match="code generator 'test_fails' fails: .*division by zero"):
        tvmq.build(mod, lowerings=[tvmq.Lowering(ADD, Codegen("test_fails"))])
    with pytest.raises(ConfigError, match="name must be that of a code generator"):
        Codegen("my chip")


@pytest.mark.slow
def test_a_module_of_another_kind_runs_and_is_not_saved(tmp_path):
    mod, feeds = network()

    def as_executable(func: relax.Function, symbol: str) -> Any:
        module = as_llvm(func, symbol)
        outer = tvm.tirx.build(tvm.IRModule({f"{symbol}_unused": module_of_nothing()}), target=tvm.target.Target("llvm"))
        outer = getattr(outer, "mod", outer)
        outer.import_module(getattr(module, "mod", module))
        return outer

    Generator("test_nested", as_executable)
    exe = tvmq.build(mod, lowerings=[tvmq.Lowering(ADD, Codegen("test_nested"))])
    np.testing.assert_array_equal(run(exe, feeds), run(tvmq.build(mod), feeds))
    with pytest.raises(ArtifactError, match="a code generator made a module of kind 'llvm', which only this process can"):
        exe.save(tmp_path / "m.tvmq")


def module_of_nothing() -> Any:
    """A function that copies a number."""
    from tvm import te

    x = te.placeholder((1,), "int32", "x")
    return te.create_prim_func([x, te.compute((1,), lambda i: x[i])])
