"""from_torch: names, inputs, outputs, modes, dynamic sizes, errors."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')

import tvm  # noqa: E402
import tvm_ffi  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from torch_networks import SmallNet, check, run, tensor, trained  # noqa: E402

import tvmq  # noqa: E402
from tvmq.errors import DataError, MemoryLimitError, ModelError, UnsupportedOpError  # noqa: E402
from tvmq.graph.names import get_names  # noqa: E402


@pytest.fixture(scope="module")
def net() -> Any:
    torch.manual_seed(0)
    return trained(SmallNet())


@pytest.fixture(scope="module")
def imported(net: Any) -> Any:
    return tvmq.from_torch(net, tensor(1, 3, 16, 16))


def test_network_equals_torch(net: Any) -> None:
    check(net, tensor(2, 3, 16, 16))


@pytest.mark.slow
def test_quantized_network_is_exact(imported: Any) -> None:
    mod, params = imported
    data = [{"x": tensor(4, 3, 16, 16, seed=seed).numpy()} for seed in range(4)]
    qmod = tvmq.quantize(mod, params, data, guard=None)
    assert "100.0% of multiply-accumulates" in tvmq.explain(qmod).summary()
    result = tvmq.verify(tvmq.build(qmod), data)
    assert result.exact and result.values == 80 and not result.islands


def test_rules_reach_layers_by_their_torch_name(imported: Any) -> None:
    mod, params = imported
    with tvmq.qconfig(rules=[tvmq.Rule("blocks.1.*", None)], calibrate_mode="global_scale"):
        layers = tvmq.explain(tvmq.quantize(mod, params)).to_dict()["layers"]
    chosen = {name: layer["precision"] for layer in layers.values() for name in layer["layers"] if "conv" in name}
    assert chosen == {
        "blocks.0.conv1": "int8", "blocks.0.conv2": "int8", "blocks.1.conv1": "float", "blocks.1.conv2": "float",
    }  # fmt: skip


def test_layers_have_the_names_of_their_modules(imported: Any) -> None:
    mod, params = imported
    names = [name for (name,) in get_names(mod["main"]).values()]
    assert list(dict.fromkeys(names)) == [
        "stem.0", "stem.1",
        "blocks.0.conv1", "blocks.0.bn1", "blocks.0.act", "blocks.0.conv2", "blocks.0.bn2", "blocks.0.add",
        "blocks.0.relu",
        "blocks.1.conv1", "blocks.1.bn1", "blocks.1.act", "blocks.1.conv2", "blocks.1.bn2", "blocks.1.add",
        "blocks.1.relu",
        "adaptive_avg_pool2d", "flatten", "head",
    ]  # fmt: skip
    assert "blocks_0_conv1" in get_names(mod["main"]) and "blocks_0_conv1_weight" in params


def test_module_has_the_form_of_from_onnx(imported: Any) -> None:
    mod, params = imported
    func = mod["main"]
    assert [p.name for p in func.params] == ["x", *params]
    assert int(func.attrs["num_input"]) == 1
    assert json.loads(func.attrs["tvmq.inputs"]) == ["x"] and json.loads(func.attrs["tvmq.outputs"]) == ["output"]
    parsed = tvm.script.from_source(mod.script(show_meta=True))
    assert tvm_ffi.structural_equal(parsed, mod)


@pytest.mark.slow
def test_training_mode_is_put_back_and_not_imported(net: Any) -> None:
    net.train()
    net.blocks[0].bn1.eval()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    mod, params = tvmq.from_torch(net, tensor(2, 3, 16, 16))
    modes = {name: module.training for name, module in net.named_modules()}
    assert not modes.pop("blocks.0.bn1") and all(modes.values())
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())
    net.eval()
    x = tensor(2, 3, 16, 16)
    np.testing.assert_allclose(run(mod, params, [x.numpy()])[0], net(x).detach().numpy(), rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_dynamic_batch_runs_with_any_size(net: Any) -> None:
    mod, params = tvmq.from_torch(net, (tensor(1, 3, 16, 16),), dynamic_batch=True)
    (batch, *rest) = mod["main"].params[0].ty.shape
    assert isinstance(batch, tvm.tirx.Var) and batch.name == "batch" and [int(d) for d in rest] == [3, 16, 16]
    sizes = [int(d) if isinstance(d, tvm.tirx.IntImm) else d.name for d in mod["main"].ret_ty.shape]
    assert sizes == ["batch", 5]
    for size in (1, 3):
        fixed = tvm.relax.transform.BindSymbolicVars({"batch": size})(mod)
        x = tensor(size, 3, 16, 16)
        np.testing.assert_allclose(run(fixed, params, [x.numpy()])[0], net(x).detach().numpy(), rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_dynamic_batch_is_quantized(net: Any) -> None:
    mod, params = tvmq.from_torch(net, (tensor(2, 3, 16, 16),), dynamic_batch=True)
    data = [tensor(3, 3, 16, 16)]
    assert tvmq.verify(tvmq.build(tvmq.quantize(mod, params, data, guard=None)), data).exact


class Reader(nn.Module):
    """Words and places, attention of one head, a mean over the words."""

    def __init__(self) -> None:
        super().__init__()
        self.word, self.place, self.norm = nn.Embedding(20, 16), nn.Embedding(32, 16), nn.LayerNorm(16)
        self.q, self.k, self.v = (nn.Linear(16, 16) for _ in range(3))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.norm(self.word(ids) + self.place.weight[: ids.shape[1]])
        scores = self.q(x) @ self.k(x).transpose(1, 2) / 4
        return (x + scores.softmax(-1) @ self.v(x)).mean(1)


@pytest.mark.slow
def test_dynamic_lengths_are_quantized_once_and_run_with_any() -> None:
    batch, length = torch.export.Dim("batch"), torch.export.Dim("length", max=32)
    torch.manual_seed(0)
    reader = Reader().eval()
    words = [torch.randint(20, shape) for shape in ((2, 8), (3, 5), (1, 12))]
    mod, params = tvmq.from_torch(reader, (words[0],), dynamic_shapes=({0: batch, 1: length},))
    exe = tvmq.build(tvmq.quantize(mod, params, words, guard=None))
    for shape in ((1, 6), (3, 9), (2, 32)):
        ids = torch.randint(20, shape)
        (found,), (defined,) = exe.run({"ids": ids.numpy()}), tvmq.reference.run(exe.module, {"ids": ids.numpy()})
        np.testing.assert_array_equal(found, defined)
        expected = reader(ids).detach().numpy()
        assert np.abs(found - expected).max() < 0.05 * np.abs(expected).max()
    with pytest.raises(DataError, match="has 33 for '.*' .axis 1., the model takes 1 to 32: layer 'getitem' takes"):
        exe.run({"ids": np.zeros((1, 33), np.int64)})


class Several(nn.Module):
    """Keyword inputs, shared weights, a buffer, nested outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(10, 4)
        self.project = nn.Linear(4, 10, bias=False)
        self.project.weight = self.embed.weight
        self.register_buffer("offset", tensor(4))

    def forward(self, ids: Any, mask: Any = None, scale: float = 1.0) -> Any:
        hidden = self.embed(ids) + self.offset * scale
        if mask is not None:
            hidden = hidden * mask[:, :, None]
        return {"logits": self.project(hidden), "states": (hidden, hidden.mean(1)), "none": None}


@pytest.mark.slow
def test_keywords_shared_weights_buffers_and_nested_outputs() -> None:
    torch.manual_seed(0)
    model = Several().eval()
    ids, mask = torch.tensor([[1, 2, 9], [0, 3, 3]]), torch.ones(2, 3)
    mask[0, 2] = 0
    mod, params = tvmq.from_torch(model, (ids,), kwargs={"mask": mask, "scale": 0.5})
    func = mod["main"]
    assert json.loads(func.attrs["tvmq.inputs"]) == ["ids", "mask"]
    assert json.loads(func.attrs["tvmq.outputs"]) == ["logits", "states.0", "states.1"]
    assert list(params) == ["embed_weight", "offset"]
    expected = model(ids, mask=mask, scale=0.5)
    wanted = [expected["logits"], *expected["states"]]
    for result, value in zip(run(mod, params, [ids.numpy(), mask.numpy()]), wanted, strict=True):
        np.testing.assert_allclose(result, value.detach().numpy(), rtol=1e-5, atol=1e-6)
    by_name, _ = tvmq.from_torch(model, {"ids": ids, "mask": mask})
    assert json.loads(by_name["main"].attrs["tvmq.inputs"]) == ["ids", "mask"]


@pytest.mark.slow
def test_a_module_called_twice_keeps_one_name() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(4, 4)

        def forward(self, x: Any) -> Any:
            return torch.tanh(self.fc(torch.tanh(self.fc(x))))

    mod = check(Twice().eval(), tensor(2, 4))
    names = [name for (name,) in get_names(mod["main"]).values()]
    assert list(dict.fromkeys(names)) == ["fc", "tanh", "tanh_1"]
    assert names.count("fc") == 6  # transposed weight, product, bias; twice


@pytest.mark.slow
def test_programs_and_files_are_imported(net: Any, tmp_path: Path) -> None:
    x = tensor(1, 3, 16, 16)
    program = torch.export.export(net, (x,))
    torch.export.save(program, str(tmp_path / "net.pt2"))
    expected = net(x).detach().numpy()
    for source in (program, tmp_path / "net.pt2"):
        mod, params = tvmq.from_torch(source, trust=True)
        assert get_names(mod["main"])["blocks_0_conv1"] == ("blocks.0.conv1",)
        np.testing.assert_allclose(run(mod, params, [x.numpy()])[0], expected, rtol=1e-4, atol=1e-4)
    again, _ = tvmq.from_torch(program.module(), x)
    assert len(get_names(again["main"])) == len(get_names(mod["main"]))


def refused(match: str, model: Any, *inputs: Any, error: type = ModelError, **options: Any) -> None:
    with pytest.raises(error, match=match):
        tvmq.from_torch(model, *inputs, **options)


@pytest.mark.slow
def test_missing_operator_names_layer_and_way_out() -> None:
    class Inner(nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.erfinv(x)

    model = nn.Sequential(nn.ReLU(), nn.ModuleDict({"deep": Inner()})["deep"])
    match = r"layer '1\.erfinv': operator erfinv\.default is not supported; write this layer with simpler"
    refused(match, model, tensor(2, 3), error=UnsupportedOpError)
    grid = torch.zeros(1, 2, 2, 2)

    class Sample(nn.Module):
        def forward(self, x: Any) -> Any:
            return F.grid_sample(x, grid, align_corners=False)

    refused("grid_sampler_2d.default is not supported; run it outside", Sample(), tensor(1, 2, 4, 4))


def test_training_and_state_are_refused() -> None:
    class Drops(nn.Module):
        def forward(self, x: Any) -> Any:
            return F.dropout(x)

    refused(r"layer '0': dropout runs in training mode; call model\.eval\(\)", nn.Sequential(Drops()).eval(), tensor(2))
    program = torch.export.export(nn.Sequential(nn.BatchNorm1d(3)).train(), (tensor(2, 3),))
    refused("layer '0': batch_norm runs in training mode", program)

    class Counts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x: Any) -> Any:
            self.count.add_(1)
            return x + self.count

    refused("writes its buffer 'count' at each call", Counts(), tensor(2), error=UnsupportedOpError, state=None)


def test_wrong_models_and_inputs_are_refused(net: Any, tmp_path: Path) -> None:
    x = tensor(1, 3, 16, 16)
    refused("a model must be an nn.Module, an ExportedProgram or the path", 3)
    refused("pass example_inputs, for example", net)
    refused("there is no file", tmp_path / "none.pt2")
    (tmp_path / "damaged.pt2").write_bytes(b"PK nothing")
    refused("can run code of whoever wrote it", tmp_path / "damaged.pt2")
    refused("was not written by torch.export.save", tmp_path / "damaged.pt2", trust=True)
    refused("pass it alone", torch.export.export(net, (x,)), x)
    refused("pass one of them", net, x, dynamic_batch=True, dynamic_shapes={})
    refused("torch.export refuses SmallNet", net, tensor(1, 4, 16, 16))
    refused("input 'input': element type bfloat16 is not supported", nn.ReLU(), x.bfloat16())

    class Number(nn.Module):
        def forward(self, x: Any) -> Any:
            return x, 3

    refused("output 'output_1': it is not a tensor", Number(), x, error=UnsupportedOpError)


def test_archives_are_bounded_before_they_are_inflated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.pt2", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb/data/weights/weight_0", bytes(2**20))
    monkeypatch.setattr("tvmq.formats.torch.importer.export.usable_memory", lambda: 2**20 - 1)
    refused("would unpack to .*, this machine has", tmp_path / "bomb.pt2", trust=True, error=MemoryLimitError)


def test_branches_on_values_are_refused_with_torchs_words() -> None:
    class Branch(nn.Module):
        def forward(self, x: Any) -> Any:
            return x + 1 if x.sum() > 0 else x

    refused("torch.export refuses Branch: .*; make torch.export.export", Branch(), tensor(2))


def test_missing_torch_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ModelError, match=r'pip install "tvmq\[torch\]"'):
        tvmq.from_torch(object())


class Specialized(torch.nn.Module):
    """Takes one length only."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.ones(6, 4)


def test_torchs_lines_that_name_the_cause_are_quoted():
    shapes = {"x": {1: torch.export.Dim("t")}}
    with pytest.raises(ModelError) as refusal:
        tvmq.from_torch(Specialized(), (torch.zeros(1, 6, 4),), dynamic_shapes=shapes)
    message = str(refusal.value)
    assert "Constraints violated (t)" in message and "constant (6)" in message and "torch suggests t = 6" in message
    assert "\n" not in message and "TORCH_LOGS" not in message
