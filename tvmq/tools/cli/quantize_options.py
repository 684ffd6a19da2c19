"""Options of the commands that quantize a float model: `quantize` and `finetune`.

Tests: tests/tools/cli
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

RESULT = "Result"

Model = Annotated[Path, typer.Argument(help="Trained float model: an .onnx file, or a .pt2 program of torch.export.")]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="File to save the executable to. Default: MODEL.tvmq in the current folder."),
]
Count = Annotated[
    int | None,
    typer.Option("--samples", min=1, help="Calibrate on this many samples, the first ones. Default: up to 256."),
]
HeldOut = Annotated[
    int | None,
    typer.Option(
        "--held-out",
        min=0,
        help="Samples held out to judge the result. Default: a fifth, or all beyond 256, at most 500; none if there "
        "are fewer than 50 samples.",
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
        help="Accuracy metric: top1, top5, mse, or a function of (outputs, labels) as module:function or "
        "file.py:function. Default: top1 if there are labels that fit.",
        rich_help_panel=RESULT,
    ),
]
Compare = Annotated[
    bool, typer.Option("--compare/--no-compare", help="Compare the outputs of int8 and float.", rich_help_panel=RESULT)
]
Bench = Annotated[
    bool, typer.Option("--bench/--no-bench", help="Measure the speed of int8 and float.", rich_help_panel=RESULT)
]
Threads = Annotated[
    int, typer.Option("--threads", min=1, help="Threads of the speed measurement.", rich_help_panel=RESULT)
]
SaveSamples = Annotated[
    Path | None,
    typer.Option(
        "--save-samples",
        help="Write the preprocessed samples that judge the result as .npz, for verify, compare, run and bench.",
        rich_help_panel=RESULT,
    ),
]
Dialect = Annotated[
    str,
    typer.Option(
        "--dialect",
        help="Dialect of --onnx: onnxruntime (also for OpenVINO), or tensorrt (symmetric int8, float biases).",
    ),
]
BackendName = Annotated[
    str | None,
    typer.Option(
        "--backend",
        help="Backend whose arithmetic to quantize for: a name, a JSON description (`tvmq backend show cpu` prints "
        'one), or the "module:object" of a tvmq.Backend. '
        "It sets the defaults of other options. Default: the CPU of --target if that names one, else cpu. "
        "Example: mychip.json",
    ),
]
