"""IREE: float32, and int8 from the Q/DQ file of onnxruntime's quantizer, static, per channel, symmetric.

IREE has no quantizer of its own. Symmetric codes are the form that it multiplies without corrections.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

import numpy as np
import onnx
from iree import runtime
from onnx import version_converter
from onnxruntime.quantization import QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process
from serve import Job, Make

CPUS = {"": "host", "avx2": "haswell", "avx512bw": "skylake-avx512"}
FLAGS = (
    "--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu", "--iree-opt-level=O3",
    "--iree-opt-data-tiling", "--iree-llvmcpu-enable-ukernels=all",
)  # fmt: skip
OPSET, LIMIT = 18, 900  # seconds to compile
PROGRAMS = Path(sys.executable).parent


def version() -> str:
    """IREE and its version."""
    return f"IREE {metadata.version('iree-base-compiler')}"


def prepare(job: Job) -> dict[str, Make]:
    """Bring to a version that IREE reads; quantize, import, compile, load."""
    model = onnx.load(job.model)
    (domain,) = (entry for entry in model.opset_import if not entry.domain)
    floats, int8 = job.folder / "float.onnx", job.folder / "int8.onnx"
    onnx.save(model if domain.version >= OPSET else version_converter.convert_version(model, OPSET), floats)
    _fix_sizes(floats, job)
    return {"iree f32": lambda: _load(floats, job), "iree int8": lambda: _load(_quantized(floats, int8, job), job)}


def _quantized(floats: Path, int8: Path, job: Job) -> Path:
    quant_pre_process(str(floats), str(job.folder / "before.onnx"))
    quantize_static(
        str(job.folder / "before.onnx"), str(int8), _Reader(job.feeds), quant_format=QuantFormat.QDQ, per_channel=True,
        activation_type=QuantType.QInt8, weight_type=QuantType.QInt8,
        extra_options={"ActivationSymmetric": True, "WeightSymmetric": True},
    )  # fmt: skip
    return int8


class _Reader:
    """Reader of samples, the CalibrationDataReader of quantize_static."""

    def __init__(self, feeds: list[dict[str, np.ndarray]]) -> None:
        self.rest: Iterator[dict[str, np.ndarray]] = iter(feeds)

    def get_next(self) -> dict[str, np.ndarray] | None:
        """The next sample, None at the end."""
        return next(self.rest, None)


def _fix_sizes(path: Path, job: Job) -> None:
    """Give the inputs the sizes of the sample."""
    model = onnx.load(path)
    for value in model.graph.input:
        for dim, size in zip(value.type.tensor_type.shape.dim, job.feed[value.name].shape, strict=True):
            dim.dim_value = size
    del model.graph.value_info[:]
    onnx.save(model, path)


def _load(path: Path, job: Job) -> Callable[[], np.ndarray]:
    """Load a run on the first sample, which is already in its memory."""
    mlir, code = path.with_suffix(".mlir"), path.with_suffix(".vmfb")
    _call("iree-import-onnx", str(path), "-o", str(mlir))
    _call("iree-compile", str(mlir), *FLAGS, f"--iree-llvmcpu-target-cpu={CPUS[job.level]}", "-o", str(code))
    driver = "local-sync" if job.threads == 1 else "local-task"
    if job.threads > 1:
        runtime.flags.parse_flags(f"--task_topology_max_group_count={job.threads}")
    config = runtime.Config(driver)
    module = runtime.load_vm_module(runtime.VmModule.mmap(config.vm_instance, str(code)), config)
    (name,) = (name for name in module.vm_module.function_names if not name.endswith("$async") and name != "__init")
    inputs = [runtime.asdevicearray(config.device, array) for array in job.feed.values()]

    def run() -> np.ndarray:
        result = module[name](*inputs)
        output: np.ndarray = (result[0] if isinstance(result, tuple) else result).to_host()
        return output

    return run


def _call(program: str, *arguments: str) -> None:
    """Run a program of the environment; what it says where it fails."""
    command = [sys.executable, str(PROGRAMS / program), *arguments]  # both are scripts of Python
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error:" in line]
        raise RuntimeError(f"{program}: {(errors or [f'ended with {done.returncode}'])[0].split('error:')[-1].strip()}")
