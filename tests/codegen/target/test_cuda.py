"""Targets of kind "cuda": forms, architectures, refusals."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import tvm

from tvmq.codegen.target.cpu import resolve_target
from tvmq.codegen.target.cuda import ARCHITECTURES, CudaTarget, cuda_target, device_arch, is_cuda, plain_host
from tvmq.errors import TargetError
from tvmq.runtime.cuda_device import refusal


@pytest.mark.parametrize("target", [
    "cuda -arch=sm_80", {"kind": "cuda", "arch": "sm_80"}, tvm.target.Target({"kind": "cuda", "arch": "sm_80"}),
    CudaTarget("sm_80", resolve_target(plain_host())),
])  # fmt: skip
def test_forms(target):
    assert is_cuda(target)
    found = cuda_target(target)
    assert (found.arch, found.name, found.capability) == ("sm_80", "cuda sm_80", (8, 0))
    assert str(found.as_tvm().kind.name) == "cuda" and str(found.as_tvm().arch) == "sm_80"
    assert cuda_target(found.tvm) == found


@pytest.mark.parametrize("target", ["llvm", "cudallvm", None, {"kind": "llvm"}, tvm.target.Target("llvm"), 3, {}])
def test_others(target):
    assert not is_cuda(target)


def gpu(monkeypatch, version: str | None) -> None:
    """TVM finds a GPU of that compute capability; None: no GPU."""
    found = SimpleNamespace(exist=version is not None, compute_version=version)
    monkeypatch.setattr(tvm, "cuda", lambda _index: found)


def test_without_a_gpu_it_is_the_portable_one_and_that_is_said(monkeypatch):
    gpu(monkeypatch, None)
    with pytest.warns(UserWarning, match="no NVIDIA GPU .* the code is for sm_75.*name one, as 'cuda -arch=sm_90'"):
        assert cuda_target("cuda").arch == "sm_75"


@pytest.mark.parametrize("version, arch", [(None, "sm_75"), ("9.0", "sm_90")])
@pytest.mark.filterwarnings("ignore:build. target 'cuda' names no architecture")
def test_a_target_of_tvm_that_names_no_architecture_is_the_gpu_at_hand(monkeypatch, version, arch):
    """tvm.target.Target("cuda") without a GPU has arch sm_50, although no user chose it."""
    unnamed = tvm.target.Target({"kind": "cuda", "arch": "sm_50"})
    gpu(monkeypatch, version)
    assert cuda_target(unnamed).arch == arch


@pytest.mark.parametrize("version, arch", [
    ("9.0", "sm_90"), ("10.3", "sm_103"), ("6.2", "sm_75"), ("10.1", "sm_100"), ("13.0", "sm_121"),
])  # fmt: skip
@pytest.mark.filterwarnings("error")
def test_with_a_gpu_it_is_that_or_the_last_known_before_it(monkeypatch, version, arch):
    gpu(monkeypatch, version)
    assert cuda_target("cuda").arch == device_arch() == arch


@pytest.mark.parametrize("arch, version, runs", [
    ("sm_80", "9.0", True), ("sm_90", "8.0", False), ("sm_90a", "9.0", True), ("sm_90a", "10.0", False),
])  # fmt: skip
def test_code_for_another_gpu_is_refused(monkeypatch, arch, version, runs):
    gpu(monkeypatch, version)
    here = f"sm_{version.replace('.', '')}"
    words = f"run: the model was built for cuda {arch}, this machine's GPU is {here}; build it for 'cuda', this GPU"
    assert refusal(cuda_target({"kind": "cuda", "arch": arch})) == ("" if runs else words)


def test_the_host_is_plain_unless_named():
    assert cuda_target("cuda -arch=sm_80").host.needs <= resolve_target(plain_host()).needs
    named = cuda_target({"kind": "cuda", "arch": "sm_90", "host": "llvm -mcpu=haswell"})
    assert named.host.mcpu == "haswell" and "avx2" in named.needs


def test_capabilities_grow_along_the_list():
    host = resolve_target(plain_host())
    found = [CudaTarget(arch, host).capability for arch in ARCHITECTURES]
    assert found == sorted(found)


@pytest.mark.parametrize("target, words", [
    ("cuda -arch=sm_81", "no architecture 'sm_81'; did you mean sm_"),
    ({"kind": "cuda", "arch": 80}, "no architecture 80; known are sm_75, "),
    ("cuda -arch=sm_61", "'sm_61', which the CUDA 13 that TVM needs neither compiles for nor runs on; the oldest is sm_75"),
    ({"kind": "cuda", "arch": "sm_50"}, "'sm_50', which the CUDA 13"),
    ("cuda -arc=sm_80", "no option 'arc'; did you mean arch"),
    ({"kind": "cuda", "zzz": 1}, "no option 'zzz'; it takes arch, host"),
    ({"kind": "cuda", "host": "llvm -mcpu=haswel"}, "no CPU 'haswel'"),
])  # fmt: skip
def test_refusals(target, words):
    with pytest.raises(TargetError, match=words):
        cuda_target(target)
