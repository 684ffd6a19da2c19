"""The scripts of examples/founding run from beginning to end, and print what a reader is told."""

from __future__ import annotations

import re
import runpy

import pytest

from tests.support.project import ROOT

FOLDER = ROOT / "examples" / "founding"
SAID = {
    "chip_backends": (
        r"conforms: yes \(all 6 operators", r"nnpi agree bit for bit", r"accumulators of 12 bits that wrap.*/bmm",
        r"lowering 'bmm_sigmoid'.*768 values equal", r"my.chip.Cubes: exact: yes",
        r"conformance: \d+ cases",
    ),
    "relay_quantizer": (
        r"7 simulated_quantize; realized by passes.* 0 results differ", r"threshold 2.0: round_alone",
        r"asymmetric, kl_divergence", r"search: \d+ bytes", r"dequantize_outputs, quantize_inputs, quantized_main",
        r"int8: 9\d\.\d% of the digits; exact: yes",
    ),
    "torch_tensors": (
        r"quantization_scheme=per_tensor_affine, scale=0.04, zero_point=127", r"float32 40000 bytes, codes 10000",
        r"q \+ q: .*tvmq.functional.add", r"functionals: 0 of 20 codes differ", r"modules: 0 of \d+ codes differ",
        r"borders: \d layers in int8 inside, 1 in float outside", r"dynamic: 100% .* exact: yes",
        r"static: 100% .* exact: yes", r"mixed: 100% .* exact: yes", r"training: 0 of 32 scores differ",
    ),
    "torch_pipeline": (
        r"worst alone: ", r"activations, 1\d weights, the least similar 0.99", r"compare: \S+ keeps least, \d\d.\d dB", r"exact: yes outputs: hm wh reg",
        r"net.onnx: \d+ kB net.svg: \d+ kB", r"custom modules: converted.* exact: yes",
    ),
    "torch_rewrites": (r"relu = nn.relu \[2, 3, 5\]", r"parsed back equal", r"exact: yes", r"training: 0 of 12 values"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::tvmq.errors.BackendWarning")
@pytest.mark.parametrize("name", SAID)
def test_runs(name, capsys):
    if name.startswith("torch_"):
        pytest.importorskip("torch")
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    text = capsys.readouterr().out
    for pattern in SAID[name]:
        assert re.search(pattern, text), f"{name} does not print {pattern!r}"


def test_all_scripts_are_run():
    assert sorted(path.stem for path in FOLDER.glob("*.py")) == sorted(SAID)


@pytest.mark.parametrize("name", SAID)
def test_the_head_says_how_to_run_it(name):
    text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    assert f"python examples/founding/{name}.py" in text.split('"""')[1]
