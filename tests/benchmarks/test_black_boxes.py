"""benchmarks/black_boxes.py: it identifies the rules of the installed tools from their answers."""

import shutil

import pytest

pytest.importorskip("onnx")


def rows(boxes, tool, names):
    """{operator: what explains the answers to the cases that begin so}."""
    box = boxes.TOOLS[tool]
    chosen = [
        case for case in boxes.cases(box.types, 0, quick=False) if f"{case.operator}/{case.name}".startswith(names)
    ]
    return boxes.explained(boxes.answer_all(box, chosen))


@pytest.mark.slow
def test_onnxruntime(script):
    pytest.importorskip("onnxruntime")
    found = rows(script("black_boxes"), "onnxruntime", ("conv2d/ties", "conv2d/small", "add/usual", "multiply/ties"))
    assert not any(one.differing for one in found.values())
    texts = {name: one.text for name, one in found.items()}
    pairs = (
        " and it adds pairs of products in 16 bits that saturate (vpmaddubsw)"
        if script("harness.onnxruntime_peer").saturates()
        else ""
    )
    assert texts["conv2d uint8"] == f"rule onnxruntime{pairs}" and texts["conv2d int8"].startswith("rule onnxruntime")
    assert texts["add uint8"].startswith("it adds float32 steps") and "openvino" in texts["multiply int8"]


@pytest.mark.slow_cases("litert-ai_edge_litert-onnxruntime")
@pytest.mark.parametrize("tool, package, rule", [
    ("tflite-micro", "tflite_micro", "tflite"), ("litert", "ai_edge_litert", "onnxruntime"),
])  # fmt: skip
def test_tflite(script, tool, package, rule):
    pytest.importorskip(package)
    pytest.importorskip("tflite")
    pytest.importorskip("tvmq.formats.tflite.flatbuffer")
    found = rows(script("black_boxes"), tool, ("conv2d/ties", "conv2d/small"))
    assert not found["conv2d int8"].differing and rule in found["conv2d int8"].text


@pytest.mark.slow
def test_a_cpu_without_vnni_saturates_pairs(script):
    pytest.importorskip("onnxruntime")
    if not shutil.which("valgrind"):
        pytest.skip("valgrind shows onnxruntime a CPU without VNNI; it is not installed")
    found = script("black_boxes").under_valgrind(0, quick=True)
    assert "saturate (vpmaddubsw)" in found["conv2d uint8"].text and found["conv2d uint8"].differing == 0
