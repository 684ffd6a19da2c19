"""benchmarks/gpu.py without a GPU: the message about what is missing, and the bound on rows that are slower."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest


def test_int8_that_is_slower_is_found(script: Any) -> None:
    rows = [
        {"model": "a", "batch": 1, "tvmq int8": 1.0, "tvm f32": 2.0, "torch f32": 0.5},
        {"model": "b", "batch": 64, "tvmq int8": 1.0, "torch f32": 2.0},
    ]
    assert script("gpu").missed(rows) == [
        "a at batch 1: 1.000 ms, torch f32 0.500 ms",
        "b at batch 64: 1.000 ms, tvm f32 did not run",
    ]


def test_variants_take_turns(script: Any) -> None:
    gpu, calls = script("gpu"), []
    runs = {name: lambda name=name: calls.append(name) for name in ("a", "b")}
    found = gpu.medians(runs, rounds=2)
    assert set(found) == {"a", "b"} and min(found.values()) >= 0
    changes = [name for i, name in enumerate(calls) if i == 0 or calls[i - 1] != name]
    assert changes == ["a", "b", "a", "b", "a", "b"]  # a warm-up and two rounds


@pytest.mark.slow
def test_a_variant_that_does_not_exist_has_a_reason(script: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    variants = script("harness.gpu_variants")
    monkeypatch.setattr(variants, "tvmq_int8", lambda path, inputs: lambda: None)
    monkeypatch.setattr(variants, "torch_run", lambda *_arguments, **_options: lambda: None)

    def missing(*_arguments: Any) -> None:
        raise RuntimeError("stack\nno such schedule")

    monkeypatch.setattr(variants, "tvm_float", missing)
    monkeypatch.setattr(variants, "torch_int8", missing)
    runs, reasons = variants.all_variants(SimpleNamespace(name="m.tvmq"), None, [], "default")
    assert set(runs) | set(reasons) == set(variants.NAMES)
    assert reasons == dict.fromkeys(("tvm f32", "torch int8"), "RuntimeError: no such schedule")


def test_without_our_own_variant_there_is_nothing_to_compare(script: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    variants = script("harness.gpu_variants")
    for name in ("tvmq_int8", "tvm_float", "torch_run", "torch_int8"):
        monkeypatch.setattr(variants, name, lambda *_arguments, **_options: 1 / 0)
    with pytest.raises(SystemExit, match="m.tvmq does not run: ZeroDivisionError"):
        variants.all_variants(SimpleNamespace(name="m.tvmq"), None, [], "default")
