"""The variants that gpu.py compares, each as a function that runs once and waits until the GPU has done it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Run = Callable[[], object]
NAMES = (
    "tvmq int8", "tvm f32", "torch f32", "torch f16", "torch.compile f32", "torch.compile f16", "torch int8",
)  # fmt: skip


def build(quantized: Any, arch: str, batch: int) -> Any:
    """The executable of an integer module whose batch is dynamic, for one batch."""
    import tvmq
    from tvmq.graph.analysis.batch_dimension import batch_dimension

    return tvmq.build(quantized, target=f"cuda -arch={arch}", sizes={batch_dimension(quantized) or "batch": batch})


def all_variants(
    path: Path, network: Any, inputs: Sequence[Any], compile_mode: str
) -> tuple[dict[str, Run], dict[str, str]]:
    """({name: run}, {name: why it is missing}).

    path     the saved integer model
    network  the float model, a torch module on the CPU
    inputs   torch tensors on the CPU
    """
    makers: dict[str, Callable[[], Run]] = {
        "tvmq int8": lambda: tvmq_int8(path, inputs),
        "tvm f32": lambda: tvm_float(network, inputs),
        "torch f32": lambda: torch_run(network, inputs),
        "torch f16": lambda: torch_run(network, inputs, half=True),
        "torch.compile f32": lambda: torch_run(network, inputs, mode=compile_mode),
        "torch.compile f16": lambda: torch_run(network, inputs, half=True, mode=compile_mode),
        "torch int8": lambda: torch_int8(network, inputs, compile_mode),
    }
    _forget_compiled()
    runs: dict[str, Run] = {}
    missing: dict[str, str] = {}
    for name, make in makers.items():
        try:
            run = make()
            run()  # what compiles late fails here
            runs[name] = run
        except Exception as error:  # the others are still worth a look
            missing[name] = f"{type(error).__name__}: {(str(error).splitlines() or ['?'])[-1][:200]}"
    if "tvmq int8" in missing:
        raise SystemExit(f"gpu: {path.name} does not run: {missing['tvmq int8']}")
    return runs, missing


def _forget_compiled() -> None:
    """torch counts what it compiled of a function, over all models and batches, and after 8 runs it uncompiled."""
    with contextlib.suppress(ImportError):
        import torch

        torch.compiler.reset()


def tvmq_int8(path: Path, inputs: Sequence[Any]) -> Run:
    """Our integer model."""
    import tvmq

    exe = tvmq.load(path)
    feeds = dict(zip((info.name for info in exe.input_info), (x.numpy() for x in inputs), strict=True))
    return exe.prepare_run(feeds)


def tvm_float(network: Any, inputs: Sequence[Any]) -> Run:
    """TVM's own pipeline: fusion and the schedules of DLight."""
    import tvm
    from tvm import relax

    import tvmq

    mod, params = tvmq.from_torch(network, tuple(inputs))
    mod = relax.transform.BindParams("main", params)(mod)
    device = tvm.cuda(0)
    machine = relax.VirtualMachine(tvm.compile(mod, tvm.target.Target.from_device(device)), device)
    there, main = [tvm.runtime.tensor(x.numpy(), device) for x in inputs], machine["main"]

    def run() -> None:
        main(*there)
        device.sync()

    return run


def torch_run(network: Any, inputs: Sequence[Any], *, half: bool = False, mode: str = "") -> Run:
    """torch, eager or compiled with a mode, in float32 or float16; torch's own settings otherwise."""
    import copy

    import torch

    model = copy.deepcopy(network).eval().cuda()
    there = [x.cuda() for x in inputs]
    if half:
        model, there = model.half(), [x.half() if x.is_floating_point() else x for x in there]
    called = torch.compile(model, mode=mode, dynamic=False) if mode else model
    return _torch(called, there)


def torch_int8(network: Any, inputs: Sequence[Any], mode: str) -> Run:
    """torchao: int8 weights, activations quantized at run time; products only, convolutions stay float."""
    import copy

    import torch
    from torchao.quantization import Int8DynamicActivationInt8WeightConfig, quantize_

    model = copy.deepcopy(network).eval().cuda()
    if not any(isinstance(module, torch.nn.Linear) for module in list(model.modules())[:-1]):
        raise ValueError("torchao quantizes products, this model has none but its last layer")
    quantize_(model, Int8DynamicActivationInt8WeightConfig())
    return _torch(torch.compile(model, mode=mode, dynamic=False), [x.cuda() for x in inputs])


def _torch(model: Any, inputs: Sequence[Any]) -> Run:
    import torch

    def run() -> None:
        with torch.inference_mode():
            model(*inputs)
        torch.cuda.synchronize()

    return run
