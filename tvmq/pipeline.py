"""The road: from a float module to an integer one.

    prepare -> partition -> annotate -> unify_scales -> (collect, choose) calibrate -> methods -> realize -> fold_constants
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tvm

from tvmq.codegen.build_module import build
from tvmq.config import QConfig, current_qconfig
from tvmq.dataset import Dataset, Input
from tvmq.errors import CalibrationError
from tvmq.graph.view import View, dtype_of, shape_of
from tvmq.methods.bias_correction import correct_bias
from tvmq.passes.annotate import annotate
from tvmq.passes.calibrate import calibrate
from tvmq.passes.collect import Feed, collect, watched
from tvmq.passes.fold_constants import fold_constants
from tvmq.passes.partition import partition
from tvmq.passes.prepare import prepare
from tvmq.passes.realize import realize
from tvmq.passes.thresholds import choose
from tvmq.passes.unify_scales import unify_scales


def quantize(
    mod: tvm.IRModule,
    params: Mapping[str, np.ndarray] | None = None,
    dataset: Any = None,
    *,
    target: Any = None,
    config: QConfig | None = None,
) -> tvm.IRModule:
    """The integer module of a float one.

    mod, params   as `from_onnx` gives them
    dataset       calibration data, see tvmq.dataset; None only with qconfig(calibrate_mode="global_scale")
    target        None: the portable description of a CPU
    config        options; those of the qconfig around by default
    """
    config = config or current_qconfig()
    mod = prepare(mod, params)
    mod = unify_scales(annotate(partition(mod, config)))
    view = View(mod)
    statistics = {}
    if config.calibrate_mode != "global_scale":
        if dataset is None:
            raise CalibrationError(
                f"quantize: calibrate_mode '{config.calibrate_mode}' chooses ranges from data and dataset is None; "
                "give dataset=, or use qconfig(calibrate_mode='global_scale')"
            )
        needs_histogram = config.calibrate_mode not in ("minmax", "moving_average")
        data = Dataset(dataset, inputs_of(view))
        statistics = collect(mod, data, evaluator, with_histogram=needs_histogram)
    ranges = choose(watched(view), statistics, config)
    mod = calibrate(mod, {name: (choice.low, choice.high) for name, choice in ranges.items()})
    if config.bias_correction:
        means = {name: s.ranges.channel_means for name, s in statistics.items() if s.ranges.channel_means is not None}
        mod = correct_bias(mod, means)
    if config.do_simulation:
        return mod
    return fold_constants(realize(mod))


def evaluator(mod: tvm.IRModule) -> Callable[[Feed], Sequence[np.ndarray]]:
    """Compiles a float module for this CPU; what calibration runs."""
    return build(mod).run


def inputs_of(view: View) -> list[Input]:
    """What a module takes."""
    return [Input(param.name, tuple(shape_of(param)), dtype_of(param)) for param in view.params.values()]
