"""Options of the commands that quantize a float model: `quantize` and `finetune`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

RESULT = "Result"

Model = Annotated[Path, typer.Argument(help="The trained float model: .onnx, or .pt2 of torch.export.")]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Where to save the executable. Default: MODEL.tvmq in the current folder."),
]
Count = Annotated[
    int | None,
    typer.Option("--samples", min=1, help="Calibrate on the first so many samples only. Default: at most 256."),
]
HeldOut = Annotated[
    int | None,
    typer.Option(
        "--held-out",
        min=0,
        help="Samples that are kept apart to judge the result. Default: a fifth, or what is more than "
        "256, at most 500; none of fewer than 50 samples.",
        rich_help_panel=RESULT,
    ),
]
Labels = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        help="Labels in the order of the samples (.npy, .txt), or a .csv of file,label. Default: subfolders, an "
        "array 'labels' of the .npz, or what the function yields.",
        rich_help_panel=RESULT,
    ),
]
Metric = Annotated[
    str | None,
    typer.Option(
        "--metric",
        help="top1, top5, mse, or module:function or file.py:function of (outputs, labels). Default: top1 where "
        "there are labels that fit.",
        rich_help_panel=RESULT,
    ),
]
Compare = Annotated[
    bool, typer.Option("--compare/--no-compare", help="Run float and int8 side by side.", rich_help_panel=RESULT)
]
Bench = Annotated[
    bool, typer.Option("--bench/--no-bench", help="Measure how much faster int8 is.", rich_help_panel=RESULT)
]
Threads = Annotated[int, typer.Option("--threads", min=1, help="Threads of that measurement.", rich_help_panel=RESULT)]
SaveSamples = Annotated[
    Path | None,
    typer.Option(
        "--save-samples",
        help="Write the samples that judge the result as .npz, prepared, for verify, compare, run and bench.",
        rich_help_panel=RESULT,
    ),
]
Dialect = Annotated[
    str,
    typer.Option(
        "--dialect",
        help="Of --onnx: onnxruntime, which OpenVINO reads too, or tensorrt: int8 around zero, biases as floats.",
    ),
]
BackendName = Annotated[
    str | None,
    typer.Option(
        "--backend",
        help="Quantize for this description of a target: a name, a file mychip.json (`tvmq backend show cpu`), or "
        'the "module:object" of a tvmq.Backend. '
        "Options that are not given follow it. Default: the CPU of --target if that names one, else cpu. "
        "Example: mychip.json",
    ),
]
