"""Instructions that code needs: the words for the CPU, and a CPU that lacks them."""

from __future__ import annotations

import pytest

import tvmq
from tvmq.codegen.target.cpu import NAMES, X86, resolve_target, without_tiles
from tvmq.codegen.target.host import TILES, X86_CODE
from tvmq.errors import TargetError
from tvmq.library.processors import SAVED_AVX, SAVED_AVX512, pack_needs
from tvmq.runtime.artifact.native_library import runs_linux_x86
from tvmq.runtime.c_library import load_library


def test_every_feature_of_code_has_its_bit():
    assert len(pack_needs(X86_CODE.keys() - TILES)) == 2 + 4 * 8


def test_state_that_the_system_saves():
    targets = {name: without_tiles(resolve_target(name)) for name, (arch, _) in NAMES.items() if arch == X86}
    states = {name: pack_needs(target.needs)[1] for name, target in targets.items()}
    assert states["x86-64"] == states["x86-64-v2"] == 0 and states["avx2"] == states["avx-vnni"] == SAVED_AVX
    assert states["avx512"] == states["avx512-vnni"] == SAVED_AVX512


def test_an_unknown_feature_is_refused():
    with pytest.raises(TargetError, match="no program can ask a CPU of x86 for flying; name a target without"):
        pack_needs(["avx2", "flying"])


@pytest.mark.slow
@pytest.mark.skipif(not runs_linux_x86(), reason="libraries are opened on Linux on x86-64 only")
def test_code_for_another_cpu_gets_a_sentence(digits, tmp_path):
    # no CPU has instructions of both: xop was AMD's until 2017, avx512fp16 Intel's of 2023 and AMD's after
    tvmq.export_library(digits.exe, tmp_path / "digits", target="llvm -mcpu=x86-64 -mattr=+xop,+avx512fp16")
    with pytest.raises(TargetError, match=r"has code for x86-64\+xop.* \(.*xop.*\), and this CPU runs none; export it"):
        load_library(tmp_path / "digits")
