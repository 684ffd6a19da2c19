"""The page about training says what is true: its examples run."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import onnx
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "training.md"


def test_examples_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')
    from tvmq.demo import load_demo

    demo = load_demo()
    monkeypatch.chdir(tmp_path)
    onnx.save(onnx.load(io.BytesIO(demo.model)), "model.onnx")
    pictures, labels = torch.from_numpy(demo.calibration[:64]), torch.arange(64) % 10
    loop, labelless, speed = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names: dict[str, object] = {
        "calibration": [demo.calibration[:64]], "loader": [(pictures, labels)], "pictures": demo.calibration[:32],
        "criterion": torch.nn.functional.cross_entropy,
    }  # fmt: skip
    begin, rest = loop.split("for x, y in loader:")
    exec(compile(begin, str(PAGE), "exec"), names)
    names["optimizer"] = torch.optim.SGD(names["net"].parameters(), lr=1e-3)  # type: ignore[attr-defined]
    exec(compile("for x, y in loader:" + rest, str(PAGE), "exec"), names)
    x = demo.test[:4]
    expected = names["net"](torch.from_numpy(x)).detach().numpy()  # type: ignore[operator]
    np.testing.assert_array_equal(names["exe"].run({"image": x})[0], expected)  # type: ignore[attr-defined]
    exec(compile(labelless.replace("seconds=300", "steps=2"), str(PAGE), "exec"), names)
    exec(compile(speed.replace("steps=300", "steps=2"), str(PAGE), "exec"), names)
