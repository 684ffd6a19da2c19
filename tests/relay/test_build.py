"""relay.build, its executors, and saved weights, as scripts use them."""

import numpy as np
import pytest
import tvm

import tvmq
from tvmq import relay
from tvmq.codegen.target.cuda import cuda_target
from tvmq.errors import ArtifactError, ConfigError, DataError, ModelError
from tvmq.relay import debug_executor, graph_executor
from tvmq.relay.backend import Executor, Runtime
from tvmq.relay.build_module import bind_params_by_name, build, optimize
from tvmq.relay.executor_factory import load_module
from tvmq.relay.expr import Function, Tuple, const, var
from tvmq.relay.module import IRModule
from tvmq.relay.op import nn
from tvmq.relay.testing import create_workload
from tvmq.relay.tvm import target as targets
from tvmq.relay.vm import Executable, VirtualMachine, load_executable
from tvmq.relay.vm import compile as vm_compile

DEVICE = tvm.cpu(0)


def workload():
    data = var("data", shape=(1, 3, 8, 8))
    body = nn.conv2d(data, var("conv_weight"), padding=1, channels=4, kernel_size=3)
    return create_workload(nn.relu(nn.bias_add(body, var("conv_bias"))))


@pytest.fixture(scope="module")
def built():
    mod, params = workload()
    return mod, params, build(mod, "llvm", params=params)


@pytest.fixture
def data():
    return np.random.default_rng(0).random((1, 3, 8, 8))


def expected(params, data):
    """The convolution by its definition, in float64."""
    weight = params["conv_weight"].numpy().astype("float64")
    padded = np.pad(data, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    return np.maximum(np.einsum("nchwij,ocij->nohw", windows, weight), 0)


def test_graph_module(built, data):
    _, params, lib = built
    module = graph_executor.GraphModule(lib["default"](DEVICE))
    module.set_input("data", data)
    module.run()
    np.testing.assert_allclose(module.get_output(0).numpy(), expected(params, data), rtol=1e-4, atol=1e-5)
    assert module.get_num_inputs() == module.get_num_outputs() == 1
    assert module.get_input_index("data") == 0 and module.get_input_index("nothing") == -1
    assert module.get_input_info() == ({"data": (1, 3, 8, 8)}, {"data": "float32"})
    np.testing.assert_array_equal(module.get_input("data").numpy(), data.astype("float32"))


def test_outputs_are_written_where_the_caller_says(built, data):
    _, _, lib = built
    module = graph_executor.GraphModule(lib["default"](DEVICE))
    module.run(data=data)
    out = tvm.runtime.empty((1, 4, 8, 8), "float32")
    module.get_output(0, out)
    np.testing.assert_array_equal(out.numpy(), module.get_output(0).numpy())


def test_executors_of_one_library_are_apart(built, data):
    _, _, lib = built
    one, other = (graph_executor.GraphModule(lib["default"](DEVICE)) for _ in range(2))
    one.run(data=data)
    other.run()
    assert one.get_output(0).numpy().any() and not other.get_output(0).numpy().any()


def test_inputs_that_are_not_there(built, data):
    _, _, lib = built
    module = graph_executor.GraphModule(lib["default"](DEVICE))
    module.set_input(nothing=data)
    with pytest.raises(RuntimeError, match="there is no input 'nothing'; the model has"):
        module.set_input("nothing", data)
    with pytest.raises(RuntimeError, match="no input 3"):
        module.set_input(3, data)
    with pytest.raises(DataError, match=r"'data' has shape \(1, 3, 8, 8\). Got \(3, 8, 8\)"):
        module.set_input("data", data[0])
    with pytest.raises(RuntimeError, match="call run"):
        module.get_output(0)
    module.run()
    with pytest.raises(RuntimeError, match="no output 1"):
        module.get_output(1)
    with pytest.raises(ConfigError, match="there is no function 'walk'"):
        module["walk"]


def test_weights_that_are_not_given_stay_inputs(built, data):
    mod, params, lib = built
    late = graph_executor.GraphModule(build(mod, "llvm")["default"](DEVICE))
    late.load_params(relay.save_param_dict(params))
    late.set_input("data", data)
    late.run()
    other = graph_executor.GraphModule(late.module)
    other.share_params(late, relay.save_param_dict(params))
    np.testing.assert_allclose(late.get_output(0).numpy(), expected(params, data), rtol=1e-4, atol=1e-5)


def test_the_three_results_of_old(built, data):
    _, params, lib = built
    with pytest.warns(DeprecationWarning, match="one library"):
        graph, library, left = lib
    module = graph_executor.create(graph, library, DEVICE)
    module.set_input(**left)
    module.set_input("data", data)
    module.run()
    np.testing.assert_allclose(module.get_output(0).numpy(), expected(params, data), rtol=1e-4, atol=1e-5)
    assert '"name": "data"' in graph and left == {}


def test_saved_libraries(built, data, tmp_path):
    _, _, lib = built
    path = tmp_path / "deploy.tar"
    lib.export_library(str(path))
    results = []
    for each in (lib, load_module(path)):
        module = graph_executor.GraphModule(each["default"](DEVICE))
        module.run(data=data)
        results.append(module.get_output(0).numpy())
    np.testing.assert_array_equal(*results)
    (tmp_path / "other.so").write_bytes(b"\x7fELF")
    with pytest.raises(ArtifactError):
        load_module(tmp_path / "other.so")


def test_names_and_kinds_that_are_not_there(built):
    mod, params, lib = built
    with pytest.raises(ConfigError, match="the library has 'default', no 'net'"):
        lib["net"]
    with pytest.raises(ConfigError, match="runtime 'crt' is unknown"):
        build(mod, "llvm", runtime="crt", params=params)
    with pytest.raises(ConfigError, match="kind 'quick' is unknown"):
        relay.create_executor("quick", mod)


def test_options_of_build(data):
    x = var("x", shape=(2,))
    with pytest.warns(DeprecationWarning, match="give a module"):
        lib = build(Function([x], x + x), executor=Executor("aot"), runtime=Runtime("cpp"), mod_name="net")
    module = graph_executor.GraphModule(lib["net"](DEVICE))
    module.run(x=[1, 2])
    assert module.get_output(0).numpy().tolist() == [2, 4]


def test_the_target_of_the_scope():
    x = var("x", shape=(2,))
    with tvm.target.Target({"kind": "llvm", "mcpu": "x86-64"}):
        lib = build(IRModule.from_expr(x + x))
    assert "x86-64" in lib.target.name


def test_benchmark_and_time_evaluator(built, data):
    _, _, lib = built
    module = graph_executor.GraphModule(lib["default"](DEVICE))
    result = module.benchmark(DEVICE, repeat=4, number=2, data=data)
    assert len(result.results) == 4 and 0 < result.min <= result.median <= result.max
    assert module.benchmark(DEVICE, repeat=2, number=1, end_to_end=True).mean > 0
    timed = module.module.time_evaluator("run", DEVICE, number=2, repeat=3)()
    assert len(timed.results) == 3 and timed.mean > 0
    with pytest.raises(ConfigError, match="counts begin at 1"):
        module.benchmark(DEVICE, repeat=0)


def test_a_repeat_lasts_as_long_as_asked():
    from tvmq.relay.graph_runtime import time_runs

    calls = []
    results = time_runs(lambda: calls.append(1), number=1, repeat=2, least_ms=2)
    assert len(results) == 2
    assert results[0] * len(calls) >= 2e-3


@pytest.mark.slow
def test_the_debug_executor_tells_where_the_time_goes(built, data):
    _, _, lib = built
    module = debug_executor.create(lib.get_graph_json(), lib, DEVICE)
    assert "conv2d" in str(module.profile(data=data))


@pytest.mark.parametrize("kind", ["debug", "graph", "vm", "aot"])
def test_create_executor(kind, built, data):
    mod, params, _ = built
    run = relay.create_executor(kind, mod, DEVICE, "llvm", params).evaluate()
    np.testing.assert_allclose(run(data).numpy(), expected(params, data), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(run(data=data).numpy(), run(tvm.runtime.tensor(data.astype("float32"))).numpy())
    with pytest.raises(DataError, match="takes"):
        run(data, data)
    with pytest.raises(DataError, match="takes"):
        run()


@pytest.mark.slow
def test_expressions_are_evaluated():
    executor = relay.create_executor()
    x = var("x", shape=(2,))
    assert executor.evaluate(const([1.0, 2.0]) + const(1.0)).numpy().tolist() == [2, 3]
    assert executor.evaluate(x * x, binds={x: np.array([2, 3], "float32")}).numpy().tolist() == [4, 9]
    assert [t.numpy().tolist() for t in executor.evaluate(Function([x], Tuple([x, x + x])))([1, 2])] == [[1, 2], [2, 4]]
    with pytest.raises(DataError, match="variable 'x' has no value"):
        executor.evaluate(x * x)
    with pytest.raises(ConfigError, match="neither a module nor an expression"):
        executor.evaluate()


def test_the_virtual_machine(built, data, tmp_path):
    mod, params, _ = built
    exe = vm_compile(mod, "llvm", params=params)
    machine = VirtualMachine(exe, DEVICE)
    result = machine.invoke("main", data).numpy()
    np.testing.assert_allclose(result, expected(params, data), rtol=1e-4, atol=1e-5)
    machine.set_input("main", data)
    np.testing.assert_array_equal(machine.run().numpy(), result)
    assert len(machine.benchmark(DEVICE, data, repeat=2, number=1).results) == 2
    exe.mod.export_library(tmp_path / "vm.so")
    np.testing.assert_array_equal(VirtualMachine(load_executable(tmp_path / "vm.so")).run(data=data).numpy(), result)
    assert exe.globals == ["main"] and exe.get_function_params("main") == ["data"]
    with pytest.raises(ConfigError, match="there is no function 'other'"):
        machine.invoke("other", data)


def test_weights_survive_as_bytes():
    params = {"a": np.arange(6, dtype="int8").reshape(2, 3), "b.c": tvm.runtime.tensor(np.float32([1.5]))}
    back = relay.load_param_dict(relay.save_param_dict(params))
    assert sorted(back) == ["a", "b.c"]
    np.testing.assert_array_equal(back["a"].numpy(), params["a"])
    with pytest.raises(ModelError, match="no saved weights"):
        relay.load_param_dict(b"nothing of the kind")


def test_parameters_are_bound_by_name():
    x, w = var("x", shape=(2,)), var("w", shape=(2,))
    bound = bind_params_by_name(Function([x, w], x * w), {"w": np.float32([3, 4]), "unknown": np.float32(1)})
    assert [p.name_hint for p in bound.params] == ["x"]
    assert relay.create_executor().evaluate(bound)([1, 2]).numpy().tolist() == [3, 8]
    twice = var("x", shape=(2,))
    with pytest.raises(ValueError, match="Multiple args in the function have name x"):
        bind_params_by_name(Function([x, twice], x * twice), {"x": np.float32([1, 2])})


def test_optimize_folds_what_is_constant(built, data):
    mod, params, _ = built
    optimized, left = optimize(mod, "llvm", params)
    assert left == {} and [p.name for p in tvm.IRModule(dict(optimized.functions_items()))["main"].params] == ["data"]
    run = relay.create_executor("graph", optimized).evaluate()
    np.testing.assert_allclose(run(data).numpy(), expected(params, data), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("make", [
    lambda: targets.cuda(), lambda: targets.Target("cuda"), lambda: targets.Target("cuda -arch=sm_80"),
    lambda: targets.cuda(arch="sm_80"), lambda: tvm.target.Target("cuda"),
], ids=["cuda()", "Target(cuda)", "Target(cuda -arch)", "cuda(arch)", "tvm's Target(cuda)"])  # fmt: skip
@pytest.mark.filterwarnings("ignore:build. target 'cuda' names no architecture")
def test_gpus_as_scripts_name_them(make):
    target = make()
    architecture = "sm_80" if str(target.attrs["arch"]) == "sm_80" else cuda_target("cuda").arch
    assert cuda_target(target).arch == architecture
    x = var("x", shape=(2, 3))
    lib = build(IRModule.from_expr(nn.relu(x)), target)
    assert lib.target.arch == architecture == tvmq.build(lib.ir_mod, target=target).target.arch


@pytest.mark.parametrize("text, arch", [("cuda -arch=sm_80", "sm_80"), ("cuda -arch sm_90", "sm_90")])
def test_the_architecture_in_a_text_is_kept(text, arch):
    assert str(targets.Target(text).attrs["arch"]) == arch


def test_virtual_machines_save_as_scripts_did(tmp_path):
    x = var("x", shape=(2,))
    code, lib = vm_compile(IRModule.from_expr(x + const(1.0))).save()
    lib.export_library(tmp_path / "net.so")
    for read in (lib, load_module(tmp_path / "net.so")):
        machine = VirtualMachine(Executable.load_exec(code, read), DEVICE)
        np.testing.assert_array_equal(machine.invoke("main", np.float32([1, 2])).numpy(), [2, 3])


def test_a_module_is_printed_as_relays_text():
    mod = IRModule.from_expr(nn.relu(var("x", shape=(2,))))
    assert str(mod) == mod.astext() and "nn.relu(%x)" in str(mod)
