"""`tvmq tune`: measure tiles of a model's kernels on this machine, for later builds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import tvmq
from tvmq.base.cache import cache_folder
from tvmq.errors import ConfigError
from tvmq.tools.cli.arguments import Batch, Json, MaxBytes, Quiet, Texts, check_targets
from tvmq.tools.cli.console import notice, print_json, step
from tvmq.tools.cli.model import check_model, import_model
from tvmq.tools.cli.trust import load_without_code


def tune(
    model: Path, *, budget: Annotated[float, typer.Option(min=0)] = 60.0, target: str = "llvm", shape: Texts = None,
    batch: Batch = 1, max_bytes: MaxBytes = None, as_json: Json = False, quiet: Quiet = False,
) -> None:  # fmt: skip
    """Measure which tiles are fastest for the products of a model on this CPU, and keep them for all later builds.

    tvmq chooses tiles with a cost model that is mostly right to a few percent; measurements find the best ones for this
    machine. All tiles compute the same bits, so results do not change. The choices are stored in the folder TVMQ_CACHE
    (default: ~/.cache/tvmq), by CPU and version. The products that take most time come first, and Ctrl-C keeps what
    was measured so far. Run nothing else on the machine meanwhile.

    Example: tvmq tune resnet18.onnx --budget 120

    model   A .tvmq saved by `tvmq quantize`, or a float model (.onnx, .pt2), tuned as int8.
    budget  Seconds to measure for.
    target  Tune for it; it must run here. Examples: "llvm", "llvm -mcpu=core-avx2"
    """
    folder = cache_folder()
    if folder is None:
        raise ConfigError("tune: TVMQ_CACHE is empty, so results cannot be stored; set it to a folder, or unset it")
    check_targets([target])
    check_model(model, saved=True)
    from tvmq.codegen.performance.tuning import tune as measure
    from tvmq.codegen.target.cpu import resolve_target  # imports TVM

    with step("read", quiet=quiet):
        module = _module(model, shape or (), batch, max_bytes, quiet)
    with step("tune", quiet=quiet) as advance:
        result = measure(module, resolve_target(target), budget, lambda _: advance())
    if as_json:
        print_json({**result.to_dict(), "folder": str(folder)})
    else:
        print(f"{result}\nstored in {folder}")
    if result.measured < result.left and not quiet:
        notice(f"{result.left - result.measured} products are left: a larger --budget continues with them")


def _module(path: Path, shape: Any, batch: int, max_bytes: int | None, quiet: bool) -> Any:
    """The integer module; of a float model with nominal ranges, which no tile depends on."""
    if path.suffix == ".tvmq":
        return load_without_code(path).module
    mod, params, _, _ = import_model(path, None, shape, batch, max_bytes=max_bytes, quiet=quiet)
    with tvmq.qconfig(calibrate_mode="global_scale"):
        return tvmq.quantize(mod, params)
