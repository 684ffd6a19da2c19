"""A torch module traced, read, changed, fused, profiled, quantized and trained, as a text about torch.fx goes.

    python examples/founding/torch_rewrites.py

The module is the text's own kind: a parameter, a constant made in forward, a linear layer, a clamp. It is not touched.
"""

from __future__ import annotations

import numpy as np
import torch
import tvm
from tvm import relax

import tvmq
from tvmq import training
from tvmq.extension import View, op_name, rewrite

RANDOM = np.random.default_rng(0)


class OwnModule(torch.nn.Module):
    """Two layers around a constant that forward makes itself."""

    def __init__(self) -> None:
        super().__init__()
        self.param = torch.nn.Parameter(torch.rand(3, 4))
        self.linear = torch.nn.Linear(4, 5)
        self.head = torch.nn.Linear(5, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(2, 3, 4) to (2, 3, 2)."""
        y = torch.relu(self.linear(x + self.param + torch.ones([3, 4])))
        return self.head(y).clamp(min=-4.0, max=4.0)


def trace() -> tuple[torch.nn.Module, tvm.IRModule, dict[str, np.ndarray], np.ndarray]:
    """The module as a graph; constructors of tensors are constants of it."""
    torch.manual_seed(0)
    model, x = OwnModule().eval(), torch.randn(2, 3, 4)
    mod, params = tvmq.from_torch(model, (x,))
    for var, value in View(mod).bindings:
        print(f"  {var.name} = {op_name(value)} {[int(size) for size in var.ty.shape]} {var.ty.dtype}")
    result = tvmq.build(mod, params=params).run({"x": x.numpy()})[0]
    assert abs(result - model(x).detach().numpy()).max() < 1e-5
    return model, mod, params, x.numpy()


def print_code(mod: tvm.IRModule) -> None:
    """The graph as code, which parses back to the same graph."""
    text = mod.script(show_meta=True)
    tvm.ir.assert_structural_equal(tvm.script.from_source(text), mod)
    print(f"code: {len(text.splitlines())} lines, parsed back equal")


def read_shapes(mod: tvm.IRModule, params: dict[str, np.ndarray], x: np.ndarray) -> None:
    """An interpreter that notes the shape and type of each value, layer by layer."""
    values = tvmq.activations((mod, params), {"x": x})
    for name, value in values.items():
        print(f"  {name}: {value.shape} {value.dtype}, {value.min():.2f} .. {value.max():.2f}")
    assert len(values) >= 3


def replace_operator(mod: tvm.IRModule) -> tvm.IRModule:
    """relu becomes silu, in one line."""

    def visit(rewriter: object, var: relax.Var, value: relax.Expr) -> relax.Expr | None:
        return relax.op.nn.silu(value.args[0]) if op_name(value) == "nn.relu" else None

    changed = rewrite(mod, visit)
    names = [op_name(value) for _, value in View(changed).bindings]
    assert "nn.silu" in names and "nn.relu" not in names
    return changed


def quantize(mod: tvm.IRModule, params: dict[str, np.ndarray], x: np.ndarray) -> None:
    """Eight bits; relu and layer are one kernel; time by layer; compiled code equals the definition."""
    data = {"x": RANDOM.normal(size=(64, *x.shape)).astype("float32")}
    samples = [{"x": sample} for sample in data["x"]]
    qmod = tvmq.quantize(mod, params, samples)
    exe = tvmq.build(qmod)
    print(tvmq.explain(qmod).summary().splitlines()[0])
    print(str(exe.profile({"x": x}, repeat=3)).splitlines()[0])
    verification = tvmq.verify(exe, samples[:4])
    print(str(verification).strip())
    assert verification.exact


def train(model: torch.nn.Module, x: np.ndarray) -> None:
    """Training with quantization in mind: a step on 4-bit weights, deployed bit for bit."""
    calibration = [(torch.randn(2, 3, 4),) for _ in range(16)]
    with tvmq.qconfig(nbit_weight=4):
        net = training.prepare(model, (torch.from_numpy(x),), calibration)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(5):
        (batch,) = calibration[0]
        loss = ((net(batch) - model(batch).detach()) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    net.eval()
    deployed = tvmq.build(training.convert(net)).run({"x": x})[0]
    trained = net(torch.from_numpy(x)).detach().numpy()
    print(f"training: {(deployed != trained).sum()} of {trained.size} values of the deployed model differ")
    assert np.array_equal(deployed, trained)


def main() -> None:
    """The steps of the text, in its order."""
    model, mod, params, x = trace()
    print_code(mod)
    read_shapes(mod, params, x)
    changed = replace_operator(mod)
    quantize(changed, params, x)
    train(model, x)


if __name__ == "__main__":
    main()
