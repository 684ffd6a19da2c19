"""The embedded example: model, pictures, accuracy and sizes are those of its README."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from tvmq import demo
from tvmq.errors import ArtifactError

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tvmq" / "demo"
README = (FOLDER / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def loaded() -> demo.Demo:
    """The example, read once."""
    return demo.load_demo()


@pytest.fixture(scope="module")
def model(loaded: demo.Demo) -> onnx.ModelProto:
    """Network of the example, parsed."""
    return onnx.load_from_string(loaded.model)


def test_arrays(loaded: demo.Demo) -> None:
    """Shapes, types and ranges of the docstring."""
    for pictures, count in ((loaded.calibration, 192), (loaded.test, 500)):
        assert pictures.shape == (count, 1, 16, 16)
        assert pictures.dtype == np.float32
        assert pictures.min() == 0.0 and 0.9 < pictures.max() <= 1.0
    assert loaded.labels.shape == (500,) and loaded.labels.dtype == np.int64
    assert set(loaded.labels) == set(range(10))


def test_calibration_and_test_share_no_picture(loaded: demo.Demo) -> None:
    """Calibrating on test pictures would flatter the result."""
    calibration = {picture.tobytes() for picture in loaded.calibration}
    assert len(calibration) == 192
    assert not calibration & {picture.tobytes() for picture in loaded.test}


def test_model_is_valid(model: onnx.ModelProto) -> None:
    """The checker passes; the batch is dynamic; batch norm is still there for `prepare` to fold."""
    onnx.checker.check_model(model, full_check=True)
    assert [value.name for value in model.graph.input] == ["image"]
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    operators = {node.op_type for node in model.graph.node}
    assert operators == {
        "Add", "BatchNormalization", "Clip", "Concat", "Conv", "Flatten", "Gemm", "GlobalAveragePool",
        "HardSigmoid", "MaxPool", "Mul", "Relu", "Sigmoid",
    }  # fmt: skip


def test_node_names(model: onnx.ModelProto) -> None:
    """Unique paths of lower-case words; some that the documentation shows."""
    names = [node.name for node in model.graph.node]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"(/[a-z][a-z0-9_]*)+", name) for name in names), names
    assert {"/stem/conv", "/block1/depthwise/conv", "/block2/concat", "/head/dense"} <= set(names)


def test_accuracy_is_the_one_of_the_readme(loaded: demo.Demo) -> None:
    """The stated figure, to the picture."""
    right = re.search(r"Accuracy in float32: ([\d.]+) % \((\d+) of 500 test pictures\)", README)
    assert right is not None
    session = onnxruntime.InferenceSession(loaded.model, providers=["CPUExecutionProvider"])
    (scores,) = session.run(None, {"image": loaded.test})
    hits = int((scores.argmax(1) == loaded.labels).sum())
    assert hits == int(right[2])
    assert f"{hits / 5:.2f}" == right[1]
    assert 480 <= hits <= 498, "good, yet with room to lose: else the example would show nothing"


def test_sizes() -> None:
    """A few hundred kB together, each as the README states it."""
    total = 0
    for name in ("digits.onnx", "digits.npz"):
        size = (FOLDER / name).stat().st_size
        assert re.search(rf"`{name}` .* \| {size} \|", README), f"{name} has {size} bytes"
        total += size
    assert total < 400_000


def test_missing_file_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A package without its data says so."""
    monkeypatch.setattr("importlib.resources.files", lambda _name: tmp_path)
    with pytest.raises(ArtifactError, match=r"'digits.npz' is missing.*train_demo"):
        demo.load_demo()


def test_loading_is_light() -> None:
    """Loading the example imports none of TVM, ONNX and torch."""
    code = (
        "import sys, tvmq.demo; tvmq.demo.load_demo(); "
        "print(sorted({'tvm', 'torch', 'onnx', 'onnxruntime'} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    )
    assert result.stdout.strip() == "[]"


def test_training_without_torch_says_what_to_install() -> None:
    """The tool names the missing package and the command."""
    code = "import runpy, sys; sys.modules['torch'] = None; runpy.run_path('tools/train_demo.py')"
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert result.returncode == 1
    assert result.stderr.startswith("train_demo: torch is missing; pip install torch scikit-learn")
