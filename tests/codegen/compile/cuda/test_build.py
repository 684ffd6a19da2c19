"""`tvmq.build` for a GPU: source, compilation by nvcc, properties of an executable without a GPU, saved files.

Text in front of the kernels of a source, and sources that are left alone.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tvm_ffi
from tvm import tirx

import tvmq
from tests.support.devices.gpu import NO_GPU, needs_nvcc
from tvmq.base.tvm_internals import SEE_CUDA
from tvmq.codegen.compile.cuda.compile import program
from tvmq.codegen.compile.cuda.source import our_sources, with_functions
from tvmq.codegen.lower.cuda.lowerer import CudaLowerer
from tvmq.codegen.target.cuda import cuda_target
from tvmq.codegen.target.nvcc import compile_source
from tvmq.codegen.target.nvrtc import is_ours
from tvmq.errors import ArtifactError, TargetError

NO_DEVICE = "built for cuda sm_90 and this machine has no NVIDIA GPU .* or build it for .llvm."
TARGET = {"kind": "cuda", "arch": "sm_90"}


@pytest.fixture(scope="module")
def exe(digits):
    """The embedded network for a GPU."""
    return tvmq.build(digits.quantized, target=TARGET)


@pytest.mark.slow
def test_the_source_is_cuda_and_readable(exe):
    assert exe.source.count("__global__") >= 8
    assert "__fmul_rn" in exe.source and "nearbyintf" in exe.source
    assert exe.source.index("tvmq_max(T a") < exe.source.index("__global__")


def test_no_float_operator_is_left_to_the_compiler(digits):
    """Products, sums and quotients of floats are functions; those of the syntax are of integers alone."""
    target = cuda_target(TARGET)
    found = program(CudaLowerer(digits.quantized, target).run(), target)
    seen = []
    operators = (tirx.Add, tirx.Sub, tirx.Mul, tirx.Div, tirx.Max, tirx.Min)
    for func in found.lowered.functions.values():
        if isinstance(func, tirx.PrimFunc):
            tvm_ffi.structural_walk(func.body, [(operators, lambda node: seen.append(str(node.ty)))])
    assert "int32" in seen and not {"float32", "float64"} & set(seen)


@pytest.mark.slow
@needs_nvcc
@pytest.mark.parametrize("form", ["fatbin", "ptx"])
def test_nvcc_compiles_it(exe, form):
    code = compile_source(exe.source, "sm_90", form)
    if form == "ptx":
        assert b"mul.rn.f32" in code and b"fma.rn.f32" not in code and b".ftz" not in code
    else:
        assert len(code) > 10_000


@pytest.mark.slow
def test_an_executable_tells_all_without_a_gpu(exe, digits):
    assert exe.input_info == digits.exe.input_info and exe.output_info == digits.exe.output_info
    assert exe.ledger.layers == digits.exe.ledger.layers and exe.names == digits.exe.names
    assert repr(exe).endswith("; integer, cuda sm_90)") and exe.target.arch == "sm_90"
    assert exe.module is not None and not digits.exe.source


@pytest.mark.slow
@pytest.mark.skipif(not NO_GPU, reason="this machine has a GPU")
def test_running_without_a_gpu_is_refused(exe, digits):
    for run in (exe.run, exe.benchmark):
        with pytest.raises(TargetError, match=NO_DEVICE):
            run(digits.pictures(1))


@pytest.fixture(scope="module")
def saved(exe, tmp_path_factory):
    """The network saved once, which has nvcc compile it; (path, sha256)."""
    path = tmp_path_factory.mktemp("saved") / "m.tvmq"
    return path, exe.save(path)


@pytest.mark.slow
def test_saved_and_loaded(exe, saved, digits, tmp_path):
    path, digest = saved
    loaded = tvmq.load(path, sha256=digest)
    assert loaded.source == exe.source and loaded.target == exe.target
    assert loaded.input_info == exe.input_info and loaded.kernels == exe.kernels
    assert loaded.save(tmp_path / "again.tvmq") == digest
    assert tvmq.build(digits.quantized, target=TARGET).save(tmp_path / "other.tvmq") == digest


@pytest.mark.slow
def test_damage_is_found(saved, tmp_path):
    path = tmp_path / "m.tvmq"
    data = bytearray(saved[0].read_bytes())
    begin = data.find(b"cuda.bin")
    data[begin + 20] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(ArtifactError):
        tvmq.load(path)


@pytest.mark.slow
def test_kernels_one_by_one(exe, digits):
    target = cuda_target(TARGET)
    found = program(CudaLowerer(digits.quantized, target).run(), target)
    assert found.source == exe.source
    for kernel in found.kernels:
        assert f" {kernel.name}(" in found.source
        assert all(isinstance(extent, int) and extent > 0 for extent in kernel.threads.values())
        assert {kind for _, kind in kernel.arguments} == {"handle"}
        assert kernel.caller in {gvar.name_hint for gvar in found.lowered.get_global_vars()}


@pytest.mark.slow
def test_float_modules_build_too(digits):
    exe = tvmq.build(digits.mod, target=TARGET, params=digits.params)
    assert "; float, cuda" in repr(exe) and "__fadd_rn" in exe.source


def test_a_model_without_kernels(tmp_path):
    from tests.support.models.networks import Net, feeds_of

    n = Net((1, 3, 4, 4))
    model = n.model(n.op("Identity", "x"))
    mod, params = tvmq.from_onnx(model)
    exe = tvmq.build(mod, target=TARGET, params=params)
    exe.save(tmp_path / "m.tvmq")
    assert tvmq.load(tmp_path / "m.tvmq").input_info == exe.input_info
    assert np.shape(feeds_of(model)[0]["x"]) == exe.input_info[0].shape


KERNEL = '#include <cstdint>\nextern "C" __global__ void k(int* x) {{ x[0] = {}; }}\n'


def test_functions_stand_before_the_first_kernel():
    code = with_functions(KERNEL.format("tvmq_max(1, 2)"))
    assert is_ours(code) and code.index("#include") < code.index("T tvmq_max(T a") < code.index("__global__ void k")
    assert "tvmq_mma" not in code and with_functions(code) == code


def test_functions_of_templates_come_with_their_callers():
    assert "asm(" in with_functions(KERNEL.format("tvmq_dp4a_u8s8(1, 2, 3)"))


def test_a_source_without_kernels_stays():
    assert with_functions("int x;") == "int x;"


def test_sources_of_others_stay():
    code = KERNEL.format("1")
    assert tvm_ffi.get_global_func(SEE_CUDA, allow_missing=True) is None
    with our_sources() as sources, ThreadPoolExecutor(1) as other_thread:
        postproc = tvm_ffi.get_global_func(SEE_CUDA)
        given = str(postproc(code, None))
        assert str(other_thread.submit(postproc, code, None).result()) == code
    assert sources == [given] and is_ours(given)
    assert tvm_ffi.get_global_func(SEE_CUDA, allow_missing=True) is None


def test_a_hook_of_the_user_comes_back():
    tvm_ffi.register_global_func(SEE_CUDA, lambda code, _target: f"// seen\n{code}", override=True)
    try:
        with our_sources() as sources:
            assert is_ours(str(tvm_ffi.get_global_func(SEE_CUDA)(KERNEL.format("1"), None))) and len(sources) == 1
        assert str(tvm_ffi.get_global_func(SEE_CUDA)("int x;", None)) == "// seen\nint x;"
    finally:
        tvm_ffi.registry.remove_global_func(SEE_CUDA)
