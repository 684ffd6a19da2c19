"""Training of the network by Lightning's Trainer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')
lightning = pytest.importorskip("lightning", reason="Lightning is no dependency: pip install lightning")

from tests.training.torch_networks import labels, pictures, pictures_model  # noqa: E402
from tvmq import training  # noqa: E402
from tvmq.training.check import first_difference  # noqa: E402


class Task(lightning.LightningModule):  # type: ignore[misc,name-defined]
    def __init__(self, net: Any) -> None:
        super().__init__()
        self.net = net
        self.losses: list[float] = []

    def training_step(self, batch: Any, _index: int) -> Any:
        x, y = batch
        loss = torch.nn.functional.cross_entropy(self.net(x), y)
        self.losses.append(loss.item())
        return loss

    def configure_optimizers(self) -> Any:
        return torch.optim.AdamW(self.parameters(), lr=3e-3)


@pytest.mark.slow  # to import Lightning takes as long as all else here
def test_trainer(tmp_path: Path) -> None:
    net = training.prepare(pictures_model(), pictures(1, seed=1), [pictures(48, seed=2)])
    x = pictures(64, seed=3)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, labels(64)), batch_size=16)
    task = Task(net)
    trainer = lightning.Trainer(
        max_epochs=3, accelerator="cpu", logger=False, enable_progress_bar=False, default_root_dir=tmp_path,
        enable_model_summary=False,
    )  # fmt: skip
    trainer.fit(task, loader)
    assert len(task.losses) == 12 and task.losses[-1] < task.losses[0]
    assert first_difference(net.eval(), training.convert(net), [x]) is None
    (checkpoint,) = tmp_path.rglob("*.ckpt")
    state = torch.load(checkpoint, weights_only=False)["state_dict"]
    assert all(torch.equal(state[f"net.{name}"], value) for name, value in net.state_dict().items())
