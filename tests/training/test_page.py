"""Examples of the documentation page about training."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "training.md"


@pytest.mark.slow
def test_examples_of_the_page_run() -> None:
    torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')
    import tvmq
    from tests.training.torch_networks import labels, pictures, pictures_model

    model, data = pictures_model(), [pictures(32, seed=2)]
    loop, own, anywhere, by_hand, labelless, speed = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    mod, params = tvmq.from_torch(model, pictures(2))
    names: dict[str, Any] = {
        "calibration": data, "loader": [(pictures(32, seed=3), labels(32))], "example_inputs": pictures(2),
        "criterion": torch.nn.functional.cross_entropy, "model": model, "mod": mod, "params": params,
    }  # fmt: skip
    begin, rest = loop.split("for x, y in loader:")
    exec(compile(begin, str(PAGE), "exec"), names)
    names["optimizer"] = torch.optim.SGD(names["net"].parameters(), lr=1e-3)
    exec(compile("for x, y in loader:" + rest, str(PAGE), "exec"), names)
    x = pictures(4, seed=4)
    np.testing.assert_array_equal(names["exe"].run({"x": x.numpy()})[0], names["net"](x).detach().numpy())
    exec(compile(own, str(PAGE), "exec"), names)
    assert len([name for name, _ in names["net"].named_parameters() if name.endswith("quantizer.up")]) == 2
    assert names["net"](x).shape == (4, 10)
    exec(compile(anywhere + by_hand, str(PAGE), "exec"), names)
    assert tvmq.explain(names["head_mod"]).int8_share() == 1.0 and names["codes"].shape == (16, 4)
    exec(compile(labelless.replace("seconds=300", "steps=2"), str(PAGE), "exec"), names)
    exec(compile(speed.replace("steps=300", "steps=2"), str(PAGE), "exec"), names)
