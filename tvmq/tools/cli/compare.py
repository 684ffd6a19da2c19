"""`tvmq compare`: where two forms of a model diverge, layer by layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import tvmq
from tvmq.calibration.dataset import samples_in
from tvmq.errors import ConfigError
from tvmq.tools.cli.arguments import Count, Json, MaxBytes, Quiet
from tvmq.tools.cli.console import print_result, step
from tvmq.tools.cli.exit_codes import FAILED
from tvmq.tools.cli.files import Arrays, first_samples, read_arrays
from tvmq.tools.cli.model import check_model, load_executable
from tvmq.tools.cli.picture_inputs import check_inputs, is_to_prepare, read_inputs


def compare(
    first: Path, second: Path | None = None, *, data: Path, samples: Annotated[int, typer.Option(min=1)] = 32,
    worst: Count = None, by: Literal["local", "accumulated", "weight"] = "local", backend: str | None = None,
    dumps: Path | None = None, max_bytes: MaxBytes = None, as_json: Json = False, quiet: Quiet = False,
) -> None:  # fmt: skip
    """Compare two models layer by layer: each layer alone, accumulated from the input, and its weights.

    Example: tvmq compare resnet18.onnx resnet18.tvmq --data pictures.npz

    Example: tvmq compare resnet18.tvmq --dumps layers/ --data pictures.npz

    first    Reference: the trained .onnx file, or a saved .tvmq.
    second   Model to judge: a .tvmq saved by `tvmq quantize`, or an .onnx.
    samples  Number of samples, from the beginning.
    worst    Show only this many, the worst layers.
    by       Error that --worst sorts by.
    backend  Compare with an emulation of this chip instead of a second model: a JSON description, or a name.
    dumps    Compare with the outputs of a device instead of a second model: a folder of .npy files named by layer, or
             an .npz. With --backend the device is compared with the emulated chip.
    """
    check_inputs(data)
    for model in filter(None, (first, second)):
        check_model(model, saved=True)
    if backend is not None or dumps is not None:
        if second is not None:
            raise ConfigError("compare: --backend and --dumps replace the second model; leave one of them out")
        _on_chip(first, data, samples, backend, dumps, as_json=as_json, quiet=quiet)
        return
    if second is None:
        raise ConfigError("compare: give two models, or one model with --backend or --dumps")
    with step("read models", quiet=quiet):
        one, other = _read(first, max_bytes), _read(second, max_bytes)
    arrays = _read_samples(data, (one, other), samples, quiet=quiet)
    with step("compare", samples_in(arrays), quiet=quiet) as advance:
        result = tvmq.compare(one, other, arrays, advance=lambda count: _repeat(advance, count))
    if as_json or worst is None:
        print_result(result, as_json=as_json)
    else:
        print(f"{result.table(result.worst(worst, by))}\n\n  {result.summary()}")


def _on_chip(
    model: Path, data: Path, samples: int, backend: str | None, dumps: Path | None, *, as_json: bool, quiet: bool
) -> None:
    """Compare a saved model with a chip, or with outputs of a device; exits with 1 if a value differs."""
    with step("read model", quiet=quiet):
        exe = load_executable(model)
    arrays = _read_samples(data, (exe,), samples, quiet=quiet)
    with step("compare", samples_in(arrays), quiet=quiet) as advance:
        result: Any
        if dumps is not None:
            result = tvmq.compare_dumps(exe, dumps, arrays, backend=backend)
        else:
            chip = tvmq.emulate(exe.module, backend)
            result = tvmq.compare(exe, chip, arrays, advance=lambda count: _repeat(advance, count))
    print_result(result, as_json=as_json)
    if not result.exact:
        raise typer.Exit(FAILED)


def _read_samples(data: Path, models: Sequence[Any], samples: int, *, quiet: bool) -> Arrays:
    """The first samples, of pictures as one of the models keeps how they are prepared."""
    executables = [model for model in models if isinstance(model, tvmq.Executable)]
    if is_to_prepare(data) and executables:
        kept = next((one for one in executables if one.preprocessing is not None), executables[0])
        return read_inputs(kept, data, most=samples, quiet=quiet)[0]
    return first_samples(read_arrays(data, _input_names(models[-1])), samples)


def _repeat(advance: Callable[[], None], count: int) -> None:
    for _ in range(count):
        advance()


def _read(path: Path, max_bytes: int | None) -> Any:
    """An executable, or the (module, params) of an ONNX file."""
    return tvmq.from_onnx(path, max_bytes=max_bytes) if path.suffix == ".onnx" else load_executable(path)


def _input_names(model: Any) -> list[str]:
    """Input names of an executable or of (module, params)."""
    if not isinstance(model, tuple):
        return [info.name for info in model.input_info]
    from tvmq.graph.names import input_names

    mod, params = model
    return [name for parameter, name in input_names(mod["main"]).items() if parameter not in params]
