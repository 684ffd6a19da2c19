"""What stands in front of the kernels of a source, and which sources are left alone."""

from __future__ import annotations

import tvm_ffi

from tvmq.compile.cuda.source import our_sources, with_functions
from tvmq.target.nvcc_flags import is_ours
from tvmq.tvm_internals import SEE_CUDA

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
    postproc = tvm_ffi.get_global_func(SEE_CUDA)
    code = KERNEL.format("1")
    assert str(postproc(code, None)) == code
    with our_sources() as sources:
        given = str(postproc(code, None))
    assert sources == [given] and is_ours(given)
    assert str(postproc(code, None)) == code
