"""The CPU of a saved model, described without LLVM: the description equals that by LLVM."""

import pytest

from tvmq.codegen.target import saved_target as saved
from tvmq.codegen.target.cpu import NAMES, host_arch, resolve_target
from tvmq.codegen.target.host import missing_by_linux, missing_features
from tvmq.codegen.target.saved_target import SavedTarget, saved_target


@pytest.mark.parametrize("name", ["llvm", *NAMES, "llvm -mcpu=znver4", "llvm -mcpu=haswell"])
def test_equals_the_target_that_was_saved(name):
    asked = resolve_target(name)
    found = SavedTarget(dict(asked.tvm), asked.needs)
    assert (found.arch, found.isa, found.name, found.needs) == (asked.arch, asked.isa, asked.name, asked.needs)
    assert found == asked and asked == found and hash(found) == hash(asked) and found.host is found
    assert found != resolve_target("llvm -mcpu=nehalem") and found != name


def test_linux_tells_what_is_missing(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    flags = frozenset(["avx2", "fma", "sse4_1"])
    assert missing_by_linux(["avx2", "sse4.1"], flags) == ()
    assert missing_by_linux(["avx2", "avx512vnni", "avx512f"], flags) == ("avx512f", "avx512vnni")
    # a feature that Linux has no name for, and a system without flags: LLVM decides
    assert missing_by_linux(["avx2", "flying"], flags) is None and missing_by_linux(["avx2"], frozenset()) is None


def test_both_ways_agree(monkeypatch):
    needs = resolve_target("llvm").needs
    with_llvm = missing_features(needs), missing_features({*needs, "avx512vp2intersect"})
    monkeypatch.setattr("tvmq.codegen.target.host.is_compiler_loaded", lambda: False)
    assert (missing_features(needs), missing_features({*needs, "avx512vp2intersect"})) == with_llvm
    assert with_llvm[0] == ()


def test_unusual_targets_are_asked_of_llvm(monkeypatch):
    here, asked = resolve_target("llvm"), []
    monkeypatch.setattr(saved, "missing_by_linux", lambda needs: ())
    monkeypatch.setattr(saved, "resolve_target", lambda options: asked.append(options) or here)
    assert isinstance(saved_target(here.tvm, here.needs, host_arch()), SavedTarget) and not asked
    for change in ({"kind": "c"}, {"mcpu": 3}, {"opt-level": 2}, {"mattr": [1]}):
        assert saved_target({**here.tvm, **change}, here.needs, host_arch()) is here
    assert saved_target(here.tvm, here.needs, "riscv") is here
    monkeypatch.setattr(saved, "missing_by_linux", lambda needs: None)
    assert saved_target(here.tvm, here.needs, host_arch()) is here
    assert len(asked) == 6
