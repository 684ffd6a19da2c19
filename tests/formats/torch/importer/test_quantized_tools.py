"""The flows of benchmarks/torch_flows.py, each trained or calibrated for a few steps in its own tool.

A flow whose package is absent is skipped with its name: pip install torchao, or brevitas onnxoptimizer, or nncf.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')

from tests.benchmarks.conftest import script as script  # noqa: E402  (the fixture)

pytestmark = pytest.mark.slow

# the largest difference of results in floats, as a share of the largest value: sums in another order, and biases
CLOSE, BIASED = 1e-6, 0.03
FLOATS = {
    "eager dynamic": CLOSE, "pt2e": BIASED, "pt2e qat": BIASED, "pt2e dynamic": CLOSE, "torchao int8": CLOSE,
    "torchao int4": CLOSE, "torchao int8 dynamic": 0.0, "torchao int8 asymmetric": CLOSE, "torchao int4 dynamic": CLOSE,
    "nncf": BIASED,
}  # fmt: skip
CODES = ("fx", "fx qat", "fx fbgemm", "fx qnnpack", "eager", "eager qat", "brevitas")
PACKAGES = {
    "pt2e": ("torchao",), "torchao": ("torchao",), "brevitas": ("brevitas", "onnxoptimizer"), "nncf": ("nncf",),
}  # fmt: skip


@pytest.mark.parametrize("name", [*CODES, *FLOATS])
def test_imported_integers_lie_within_one_step(
    name: str, script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in PACKAGES.get(name.partition(" ")[0], ()):
        pytest.importorskip(package, reason=f"pip install {package}")
    monkeypatch.setenv("NNCF_EXTENSION_LOAD_TIMEOUT", "0")  # it compiles its quantizers at the first run
    flows, models = script("torch_flows"), script("flows.models")
    data = models.Data.of_demo(flows.QUICK_SAMPLES, flows.QUICK_STEPS)
    facts = flows.measure(name, models.FLOWS[name](data, tmp_path), data)
    assert not flows.failures([facts])
    assert facts["values"] == 10 * flows.QUICK_SAMPLES and facts["definition"] == 0
    assert facts["largest"] <= 1
    assert facts["float"] is None if name in CODES else facts["float"] <= FLOATS[name]


def test_a_wrong_layer_is_found(script: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    flows = script("torch_flows")
    single = {"differing": 5, "values": 9, "largest": 2, "worst": "quantized.conv2d", "on_grid": 3, "ties": 1}
    row = {"name": "fx", "definition": 4, "operators": single}
    assert flows.failures([row]) == [
        "fx: 4 values differ from the definition", "fx: 'quantized.conv2d' differs by 2 LSB", "fx: 2 values differ away from ties",
    ]  # fmt: skip
