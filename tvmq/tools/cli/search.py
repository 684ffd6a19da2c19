"""`tvmq search`: which layer gets which precision, so that the model is fastest or smallest within a bound."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import tvmq
from tvmq.errors import ConfigError
from tvmq.tools.cli.arguments import Count, Json, Output, Quiet, ReadOptions, Texts, check_targets, parse_targets
from tvmq.tools.cli.console import notice, print_json, print_rows, size_text, time_text
from tvmq.tools.cli.doubts import doctor_command, find_doubts
from tvmq.tools.cli.exit_codes import DOUBTFUL, REFUSED
from tvmq.tools.cli.extras import check_extra
from tvmq.tools.cli.metrics import IN_POINTS, find_labels
from tvmq.tools.cli.model import check_model
from tvmq.tools.cli.opening import open_model_and_data
from tvmq.tools.cli.options import with_qconfig_options
from tvmq.tools.cli.quantize import check_files
from tvmq.tools.cli.samples import Feeds

POINTS = 100.0


@with_qconfig_options
def search(
    model: Path, *, config: tvmq.QConfig, data: str, output: Output = None, minimize: str = "latency",
    metric: str | None = None, max_drop: Annotated[float | None, typer.Option(min=0)] = None, sqnr: float = 20.0,
    labels: Path | None = None, options: str | None = None, finetune_steps: Count = None,
    workers: Annotated[int, typer.Option(min=1)] = 1, dask: str | None = None, resume: bool = True,
    merge: list[Path] | None = None, rounds: Annotated[int, typer.Option(min=0)] = 6,
    seconds: Annotated[float | None, typer.Option(min=0)] = None, samples: Count = None,
    held_out: Annotated[int | None, typer.Option(min=0)] = None, reading: ReadOptions, target: Texts = None,
    as_json: Json = False, quiet: Quiet = False,
) -> None:  # fmt: skip
    """Find the fastest or smallest model that keeps a bound, layer by layer.

    The best model so far is always on disk: Ctrl-C loses only the running trial, and the same command continues the
    search. The result does not depend on the number of workers.

    Example: tvmq search resnet.onnx --data pictures/ --metric top1 --max-drop 0.3

    Example: tvmq search detector.onnx --data calib.npz --sqnr 30 --minimize size --workers 4

    model           Trained float model: .onnx, or .pt2 of torch.export.
    data            Samples as `tvmq quantize` takes them. Some calibrate; the held-out ones judge every model that is
                    tried, so keep a separate set for the final evaluation.
    output          Folder for the journal, the best model so far (best.tvmq, best.json), front.json, front.svg and a
                    recipe for each point of the front. Default: MODEL.search in the current folder. An interrupted
                    search continues there.
    minimize        latency: forecast time of one sample; size: bytes of constants.
    metric          top1, top5, mse, or module:function of (outputs, labels); needs --max-drop and labels.
    max_drop        Largest drop of the metric from float: in points for top1 and top5, else in units of the metric.
    sqnr            Without a metric: lowest SQNR of the outputs, in dB.
    labels          Labels of the samples, as for `tvmq quantize`.
    options         Choices for each layer, separated by commas: int8, weights4, weights6, int16, minmax, percentile,
                    histogram, kl_divergence, dynamic, float. Default: int8,minmax,dynamic,float; with --minimize size
                    also weights4.
    finetune_steps  Finally train the integers of the cheapest models that missed the bound, this many steps each, as
                    `tvmq finetune` does. Needs tvmq[torch].
    workers         Worker processes on this machine.
    dask            Measure on a Dask cluster: address of its scheduler. Example: tcp://node1:8786
    resume          Continue from the journal in --output. --no-resume refuses a folder that has one.
    merge           Reuse the results in the journal of another search of this model; repeatable.
    rounds          Largest number of rounds of proposals.
    seconds         Start no further round after this many seconds.
    samples         Read only this many samples, from the beginning.
    held_out        Samples held out to judge; default as in `tvmq quantize`.
    """
    check_files(data, labels, metric, ())
    check_targets(target)
    check_extra("search", "scipy", "which solves proposals", "search")
    check_model(model)
    finetune = None if finetune_steps is None else make_training_options(finetune_steps)
    if (metric is None) != (max_drop is None):
        flag = "--metric" if metric is not None else "--max-drop"
        raise ConfigError(f"search: --metric and --max-drop go together. Got {flag} alone; give both, or neither")
    folder = output or Path(f"{model.stem}.search")
    prepare_folder(folder, merge or (), resume=resume)
    job = open_model_and_data(
        model, data, config, reading=reading, samples=samples, held_out=held_out, quiet=quiet,
    )  # fmt: skip
    if job.is_prequantized or job.samples is None:
        raise ConfigError("search: the model is quantized already; give the float model")
    find_doubts(job, labels, doctor_command(model, data, reading.tokenizer), run=metric is not None, quiet=quiet)
    judge = Feeds(job.samples, job.split.comparison, job.size)
    named = None
    if metric is not None:
        every = find_labels(labels, job.samples)
        if every is None:
            raise ConfigError("search: --metric needs labels; give --labels, subfolders by class, or 'labels' in .npz")
        named = every[job.split.comparison[: len(judge) * job.size]]
    scale = POINTS if metric in IN_POINTS else 1.0
    wanted: dict[str, Any] = {
        "data": judge, "labels": named, "metric": metric, "max_drop": None if max_drop is None else max_drop / scale,
        "sqnr": sqnr, "minimize": minimize, "config": job.config, "output": folder, "rounds": rounds,
        "seconds": seconds, "finetune": finetune, "target": parse_targets(target),
        "advance": None if quiet else notify_progress(),
        "space": tvmq.SearchSpace(options=options.split(",") if options else None),
    }  # fmt: skip
    calibration = job.calibration
    if dask is None:
        result = tvmq.search(job.mod, job.params, calibration, workers=workers, **wanted)
    else:
        result = search_on_dask(dask, job.mod, job.params, calibration, wanted)
    if as_json:
        print_json({**result.to_dict(), "trials": result.trials, "elapsed": result.seconds, "output": str(folder)})
    else:
        print_result(result, folder, scale, model, data)
    if result.best is None:
        raise typer.Exit(REFUSED)
    if job.doubts:
        raise typer.Exit(DOUBTFUL)


def make_training_options(steps: int) -> Any:
    """Training options for this many steps.

    raises  ConfigError without torch
    """
    try:
        from tvmq.training import Distill
    except ModuleNotFoundError as error:
        raise ConfigError(f"search: --finetune-steps: {error}") from error
    return Distill(steps=steps)


def prepare_folder(folder: Path, merge: list[Path] | tuple[Path, ...], *, resume: bool) -> None:
    """The folder with its journal, other journals merged into it.

    raises  ConfigError for a journal that is there already, without `resume`
    """
    from tvmq.quantization.search.journal import Journal
    from tvmq.quantization.search.loop import JOURNAL, make_folder

    path = make_folder(folder) / JOURNAL
    if path.exists() and not resume:
        raise ConfigError(f"search: '{path}' exists already; --resume continues it, --output chooses another folder")
    if merge:
        with Journal(path) as journal:
            for other in merge:
                notice(f"search: merged {journal.merge(other)} results from '{other}'")


def search_on_dask(address: str, mod: Any, params: Any, calibration: Any, wanted: dict[str, Any]) -> Any:
    """The search with the workers of a Dask cluster.

    raises  ConfigError where Dask is not installed, or no scheduler answers
    """
    try:
        from dask.distributed import Client
    except ImportError as error:
        raise ConfigError("search: --dask needs Dask; pip install 'tvmq[dask]'") from error
    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"search: no Dask scheduler answers at '{address}' ({error}); start one, or leave --dask out"
        ) from error
    with client:
        return tvmq.search(
            mod, params, calibration, executor=client.get_executor(), **wanted,
            shared=lambda problem: client.scatter(problem, broadcast=True),
        )  # fmt: skip


def notify_progress() -> Any:
    """Progress callback of the search: a notice for each stage and for each better model."""
    last_notice: dict[str, Any] = {"stage": "", "best": None}

    def advance(progress: Any) -> None:
        if progress.stage != last_notice["stage"] or progress.best != last_notice["best"]:
            last_notice.update(stage=progress.stage, best=progress.best)
            best = progress.best
            text = "no solution yet" if best is None else f"best {time_text(best.seconds)}, {size_text(best.bytes)}"
            notice(f"search: {progress.stage}, {progress.done} of {progress.total}; {text}")

    return advance


def print_result(result: Any, folder: Path, scale: float, model: Path, data: str) -> None:
    """The front as a table, and what to do next."""
    print(f"{result.goal}; {result.trials} trials in {time_text(result.seconds)}")
    rows = [
        ["", "drop" if result.goal.max_drop is not None else "", "dB", "forecast", "measured", "constants", "int8", ""]
    ]
    floats = result.floats
    float_seconds = _seconds_text(floats.get("measured"))
    rows.append(["float", "", "", time_text(floats["seconds"]), float_seconds, size_text(floats["bytes"]), "", ""])
    for number, point in enumerate(result.front, 1):
        low, drop, high = (f"{(share or 0) * scale:.2f}" for share in (point.low, point.drop, point.high))
        drop = "" if point.drop is None else f"{drop} ({low} to {high})"
        mark = "best" if point == result.best else "" if point.holds else "misses the bound"
        mark = ", ".join(filter(None, (mark, "finetuned" if point.recipe.finetuned else "")))
        rows.append([
            f"point-{number}", drop, f"{point.sqnr:.1f}", time_text(point.seconds), _seconds_text(point.measured),
            size_text(point.bytes), f"{point.int8:.0%}", mark,
        ])  # fmt: skip
    print_rows(rows)
    if result.best is None:
        print(f"No model with 8-bit layers keeps the bound: stay with float, or loosen it. Files: {folder}/")
        return
    if is_uncertain(result.best, result.goal.max_drop):
        width = (result.best.high - result.best.low) / 2 * scale
        print(
            f"Note: {result.best.samples} samples determine the drop only to ± {width:.2g}, and the bound is "
            f"{result.goal.max_drop * scale:.2g}: use more samples (--held-out, or a larger --data)"
        )
    print(f"Files: {folder}/ (best.tvmq, front.svg, recipes)")
    if result.best.recipe.finetuned:
        print(f"Next: tvmq bench {folder / 'best.tvmq'}")
        return
    print(f"Next: tvmq quantize {model} --data {data} --config {folder / 'best.json'} --guard none")


def is_uncertain(best: Any, max_drop: float | None) -> bool:
    """True if the drop of the best model might as well lie beyond the bound."""
    return max_drop is not None and best.high > max_drop and best.high > best.drop


def _seconds_text(seconds: float | None) -> str:
    return "" if seconds is None else time_text(seconds)
