"""DistributedDataParallel: two processes train as one does, up to the order of float sums, and both deploy exactly."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')

import tvmq  # noqa: E402
from tests.training.torch_networks import pictures, pictures_model  # noqa: E402
from tvmq import training  # noqa: E402
from tvmq.training.check import first_difference  # noqa: E402

ROOT = Path(__file__).parents[2]
STEPS = 6


def trained(folder: Path, world: int) -> list[dict[str, Any]]:
    """The state of each process at the end."""
    command = [sys.executable, "-m", "tests.training.two_processes"]
    files = [str(folder / f"store{world}"), str(folder / f"states{world}.pt")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    processes = [
        subprocess.Popen(
            [*command, str(rank), str(world), *files, str(STEPS)], cwd=ROOT, env=environment, stderr=subprocess.PIPE
        )
        for rank in range(world)
    ]
    errors = [process.communicate(timeout=500)[1].decode() for process in processes]
    assert [process.returncode for process in processes] == [0] * world, "\n".join(errors)
    states: list[dict[str, Any]] = torch.load(files[1], weights_only=True)
    return states


@pytest.mark.slow  # three processes that prepare the network
def test_two_processes_learn_as_one(tmp_path: Path) -> None:
    (alone,), (first, second) = trained(tmp_path, 1), trained(tmp_path, 2)
    assert all(torch.equal(first[name], second[name]) for name in first)
    net = training.prepare(pictures_model(), pictures(1, seed=1), [pictures(48, seed=2)])
    start = {name: value.clone() for name, value in net.state_dict().items()}
    parameters = [name for name, _ in net.named_parameters()]
    apart = max(float((first[name] - alone[name]).norm() / (alone[name] - start[name]).norm().clamp_min(1e-12))
                for name in parameters if not name.startswith("quantizers"))  # fmt: skip
    x, scores = pictures(64, seed=3), []
    for state in (alone, first):
        net.load_state_dict(state)
        module = training.convert(net)
        assert first_difference(net, module, [x]) is None
        scores.append(net(x).detach().numpy())
        np.testing.assert_array_equal(tvmq.build(module).run({"x": x.numpy()})[0], scores[-1])
    difference = np.abs(scores[0] - scores[1]).max() / np.abs(scores[0]).max()
    print(f"two processes: weights apart by {apart:.2g} of what they moved, scores by {difference:.2g} of the largest")
    assert apart < 1e-2
    assert difference < 0.05
