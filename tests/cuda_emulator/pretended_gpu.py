"""An emulated GPU in TVM: a device "cuda" with the CPU's memory, whose kernels g++ compiled.

What runs is all that a GPU machine runs besides the kernels' binary: saved models, the Relax virtual machine on
tvm.cuda(0), constants, copies, workspaces. A process that pretends cannot stop, so it is one of its own:

    python -m tests.cuda_emulator.pretended_gpu        prints JSON, see `main`
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import tvm
import tvm_ffi

import tvmq
from tests.cuda_emulator.library import compiled
from tests.cuda_emulator.source import on_cpu
from tvmq.base.tvm_internals import LOAD_CUDA
from tvmq.codegen.compile.cuda.compile import program
from tvmq.codegen.lower.cuda.lowerer import CudaLowerer
from tvmq.codegen.lower.int4_weights import float_weights
from tvmq.codegen.target.cuda import cuda_target
from tvmq.graph.analysis.batch_dimension import batch_dimension
from tvmq.graph.symbolic import with_sizes


def pretend() -> None:
    """From now on there is a device "cuda" with the memory of the CPU; it says that it is sm_75."""
    cpu = tvm_ffi.get_global_func("device_api.cpu")
    tvm_ffi.register_global_func("device_api.cuda", lambda: cpu(), override=True)
    type(tvm.cuda(0)).compute_version = property(lambda _device: "7.5")


def loaded(module: tvm.IRModule, folder: Path) -> Any:
    """The module built for the device, saved and loaded again, with kernels that g++ compiled."""
    batch = batch_dimension(module)
    plain = float_weights(with_sizes(module, {batch: 1}) if batch else module)
    found = program(CudaLowerer(plain, cuda_target()).run(), cuda_target())
    kernels = compiled(on_cpu(found.source, {kernel.name: tuple(kernel.threads) for kernel in found.kernels}), False)
    kernels.reset(0, 0xCB)
    tvm_ffi.register_global_func(LOAD_CUDA, lambda _data: kernels.module, override=True)
    with mock.patch("tvmq.runtime.cuda_device.refusal", lambda _target: "built without a GPU"):
        tvmq.build(module, target="cuda").save(folder / "m.tvmq")
    return tvmq.load(folder / "m.tvmq")


def quantized(*, dynamic: bool) -> tuple[tvm.IRModule, Any]:
    """The embedded network and its example."""
    from tvmq.demo import load_demo

    example = load_demo()
    mod, params = tvmq.from_onnx(example.model, shape=None if dynamic else {"image": (1, *example.test.shape[1:])})
    with tvmq.qconfig(calibrate_mode="minmax"):
        return tvmq.quantize(mod, params, {"image": example.calibration[:8]}), example


def main() -> None:
    """{"exact": results equal the definition, "median": seconds, "device": ..., "dynamic": shapes of a batch of 3}."""
    pretend()
    module, example = quantized(dynamic=False)
    with tempfile.TemporaryDirectory() as folder:
        exe = loaded(module, Path(folder))
        feeds = [{"image": example.test[i : i + 1]} for i in range(3)]
        exact = all(np.array_equal(exe.run(feed)[0], tvmq.reference.run(module, feed)[0]) for feed in feeds)
        timing = exe.benchmark(feeds[0], repeat=2)
        dynamic, _ = quantized(dynamic=True)
        any_size = loaded(dynamic, Path(folder))
        (several,) = any_size.run({"image": example.test[:3]})
        exact &= np.array_equal(several, tvmq.reference.run(dynamic, {"image": example.test[:3]})[0])
    facts = {"exact": bool(exact), "median": timing.median, "device": tvm.cuda(0).exist, "dynamic": several.shape}
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
