"""nvcc and NVRTC: flags, errors, the source that TVM passes to them, code of a saved model."""

from __future__ import annotations

import pytest

from tests.support.devices.gpu import needs_nvcc
from tvmq.codegen.compile.cuda.source import with_functions
from tvmq.codegen.target import nvcc
from tvmq.codegen.target.nvrtc import FLAGS, compile_by_nvrtc
from tvmq.errors import BuildError, TargetError

SOURCE = with_functions(
    'extern "C" __global__ void k(float* x, int* y) { x[0] = x[1] * x[2] + x[3] / x[4]; y[0] = tvmq_int(x[5]); }'
)


def ptx(source: str) -> str:
    """PTX that nvcc makes of the source for sm_80."""
    return nvcc.compile_source(source, "sm_80", "ptx").decode()


@pytest.mark.slow
@needs_nvcc
def test_flags_keep_products_and_sums_apart():
    text = ptx(SOURCE)
    assert "mul.rn.f32" in text and "add.rn.f32" in text and "div.rn.f32" in text
    assert "fma." not in text and ".ftz" not in text and "approx" not in text


@pytest.mark.slow
@needs_nvcc
def test_a_source_that_is_wrong_names_the_line():
    with pytest.raises(
        BuildError, match=r'nvcc could not compile the kernels for sm_80: .*identifier "z" is undefined'
    ):
        ptx(SOURCE.replace("x[1]", "z"))


def test_without_nvcc(monkeypatch):
    monkeypatch.setattr(nvcc, "find_nvcc", lambda: None)
    with pytest.raises(TargetError, match="no nvcc on the PATH, in CUDA_HOME or /usr/local/cuda; install"):
        nvcc.compile_source(SOURCE, "sm_80")


def test_nvcc_is_found_in_cuda_home(monkeypatch, tmp_path):
    program = tmp_path / "bin" / "nvcc"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert nvcc.find_nvcc() == str(program)


def test_nvrtc_compiles_or_says_what_is_missing():
    """NVRTC needs no headers of CUDA: those of the source are passed to it."""
    try:
        code = compile_by_nvrtc("#include <cuda/std/cstdint>\n#include <cuda/std/type_traits>\n" + SOURCE, "sm_80")
    except TargetError as error:
        assert "neither nvcc nor NVRTC; install CUDA's nvcc, or `pip install cuda-bindings" in str(error)
        pytest.skip(str(error))
    assert code.startswith(b"\x7fELF")
    with pytest.raises(BuildError, match="NVRTC could not compile"):
        compile_by_nvrtc(SOURCE.replace("x[1]", "z"), "sm_80")


def test_tvm_gets_our_code_for_our_sources(monkeypatch):
    asked = []
    monkeypatch.setattr(nvcc, "compile_source", lambda source, arch: asked.append(arch) or b"by nvcc")
    monkeypatch.setattr(nvcc, "compile_by_nvrtc", lambda source, arch: asked.append(arch) or b"by nvrtc")
    compiled = {}
    assert nvcc._compile("int x;", lambda source: f"TVM: {source}", compiled) == "TVM: int x;" and not asked
    monkeypatch.setattr(nvcc, "find_nvcc", lambda: "/nvcc")
    assert bytes(nvcc._compile(SOURCE, str, compiled)) == b"by nvcc"
    monkeypatch.setattr(nvcc, "find_nvcc", lambda: None)
    assert bytes(nvcc._compile(SOURCE, str, compiled)) == b"by nvrtc" and len(asked) == 2
    compiled[nvcc._key(SOURCE)] = b"brought"
    assert bytes(nvcc._compile(SOURCE, str, compiled)) == b"brought" and len(asked) == 2


def test_flags_are_of_arithmetic_alone():
    assert FLAGS == ("--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true")
