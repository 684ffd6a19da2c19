"""`tvmq quantize`: from a trained float model to a saved integer executable."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

import tvmq
from tvmq.cli.arguments import Batch, Json, Quiet, Shapes, Targets, target_of
from tvmq.cli.files import Batches, check_output
from tvmq.cli.model import import_model
from tvmq.cli.options import with_qconfig_options
from tvmq.cli.screen import notice, print_json, print_rows, size_text, step, time_text
from tvmq.errors import CalibrationError


@with_qconfig_options
def quantize(
    model: Annotated[Path, typer.Argument(help="The trained float model: .onnx, or .pt2 of torch.export.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to save the executable. Example: resnet18.tvmq")
    ],
    config: tvmq.QConfig,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            help="Calibration data: an .npz with one array for each input, or an .npy for a single input, "
            "samples first, prepared as for inference. 100 to 500 samples are enough. Not needed with "
            "--calibrate-mode global_scale, nor for a model that is quantized already.",
        ),
    ] = None,
    samples: Annotated[
        int | None, typer.Option("--samples", min=1, help="Calibrate on the first so many samples only.")
    ] = None,
    batch: Batch = 1,
    shape: Shapes = None,
    onnx: Annotated[
        Path | None,
        typer.Option("--onnx", help="Also write the integer model as ONNX with QuantizeLinear and DequantizeLinear."),
    ] = None,
    target: Targets = None,
    backend: Annotated[
        str | None,
        typer.Option(
            "--backend",
            help='Quantize for this description of a target: a name, or "module:object" that holds a tvmq.Backend. '
            "Options that are not given follow it. Default: the CPU of --target if that names one, else cpu. "
            "Example: my_chip:DESCRIPTION",
        ),
    ] = None,
    tune: Annotated[
        float | None,
        typer.Option(
            "--tune",
            min=0,
            help="Measure for so many seconds which layers are faster in float on this machine; they stay float.",
        ),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Quantize a trained ONNX or torch model and save it as an executable for this CPU.

    Example: tvmq quantize resnet18.onnx --data calibration.npz --output resnet18.tvmq
    """
    check_output(output)
    if data is None and _needs_data(model, config):
        raise CalibrationError(
            f"quantize: calibrate_mode '{config.calibrate_mode}' chooses ranges from data; "
            "add --data calibration.npz, or use --calibrate-mode global_scale"
        )
    start = time.perf_counter()
    with step("import", quiet=quiet):
        mod, params, arrays, size = import_model(model, data, shape or (), batch, quiet=quiet)
    if arrays is not None and samples is not None:
        arrays = {name: array[:samples] for name, array in arrays.items()}
    # "llvm" alone stays portable: what comes out does not depend on this machine
    named = target_of(target)
    described = backend or (named if isinstance(named, str) and named.startswith("llvm ") else None)
    qmod = quantized(mod, params, arrays, size, config, backend=described, quiet=quiet, tune=tune)
    if onnx is not None:
        tvmq.to_onnx(qmod, onnx)
    with step("build", quiet=quiet):
        exe = tvmq.build(qmod, target=target_of(target))
    exe.save(output)
    report(model, output, tvmq.explain(qmod), time.perf_counter() - start, as_json=as_json)


def quantized(
    mod: Any,
    params: Any,
    arrays: Any,
    size: int,
    config: tvmq.QConfig,
    *,
    backend: str | None = None,
    quiet: bool = False,
    tune: float | None = None,
) -> Any:
    """The integer module; a bar shows how much of the data has been read (it is read at most twice)."""
    total = 2 * len(Batches(arrays, size)) if arrays else None
    with step("quantize", total, quiet=quiet) as advance, config:
        data = Batches(arrays, size, advance) if arrays else None
        return tvmq.quantize(mod, params, data, target=backend, tune=tune)


def report(model: Path, output: Path, explanation: Any, seconds: float, *, as_json: bool) -> None:
    """What came out of it."""
    sizes = {"model_bytes": model.stat().st_size, "output_bytes": output.stat().st_size}
    if as_json:
        print_json({"model": model, "output": output, **sizes, "seconds": seconds, **explanation.to_dict()})
        return
    print_rows([
        ["model", f"{model} ({size_text(sizes['model_bytes'])})"],
        ["saved", f"{output} ({size_text(sizes['output_bytes'])})"],
        ["time", time_text(seconds)],
    ])  # fmt: skip
    print(explanation.summary())
    notice(f"next: tvmq verify {output} --data ..., tvmq bench {output}, tvmq explain {output}")


def _needs_data(model: Path, config: tvmq.QConfig) -> bool:
    """True if ranges have to be chosen from data: the model brings none, and the options ask for some."""
    from tvmq.frontends.onnx_quantized import carries_scales  # imports TVM

    static = config.activations == "static" and config.calibrate_mode != "global_scale"
    return static and not carries_scales(model)
