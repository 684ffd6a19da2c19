"""relay.frontend: models of other formats; all return (module, params).

from_onnx and from_pytorch read the models themselves; other formats come through ONNX, and the message says how.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import tvm
from tvm import relax

import tvmq
from tvmq.errors import ConfigError, ModelError, UnsupportedOpError
from tvmq.extension import check_max_bytes, check_size, rename_inputs
from tvmq.relay.module import IRModule, as_module

# Importers that are not here -> how such a model becomes ONNX
OTHERS = {
    "from_caffe": "caffe2onnx",
    "from_caffe2": "the ONNX exporter of caffe2",
    "from_coreml": "coremltools and onnxmltools",
    "from_darknet": "a darknet-to-ONNX converter, or the same network in PyTorch",
    "from_keras": "tf2onnx: python -m tf2onnx.convert --keras model.h5 --output model.onnx",
    "from_mxnet": "mxnet.onnx.export_model",
    "from_oneflow": "oneflow_onnx",
    "from_paddle": "paddle2onnx",
    "from_tensorflow": "tf2onnx: python -m tf2onnx.convert --saved-model folder --output model.onnx",
    "from_tflite": "tf2onnx: python -m tf2onnx.convert --tflite model.tflite --output model.onnx",
}


def from_onnx(
    model: Any, shape: Mapping[str, Sequence[int | None]] | None = None, dtype: Any = "float32",
    opset: int | None = None, freeze_params: bool = True, convert_config: Any = None,
    export_node_renamed_model_path: Any = None, *, max_bytes: int | None = None, folder: str | Path | None = None,
) -> tuple[IRModule, dict[str, tvm.runtime.Tensor]]:  # fmt: skip
    """An ONNX model, as relay.frontend.from_onnx.

    model          a path, bytes or onnx.ModelProto
    shape          {input name: shape}; fixes dynamic dimensions
    dtype, opset   accepted; the model says both
    freeze_params  weights are constants of the module, and params is empty; else they are parameters, and in params
    max_bytes, folder  bound on one tensor, and where files with weights are: as tvmq.from_onnx
    raises         ModelError, UnsupportedOpError, MemoryLimitError as tvmq.from_onnx; ConfigError for a path to write a
                   renamed model to

    Layers keep the names of the model's nodes.
    """
    if export_node_renamed_model_path is not None:
        raise ConfigError("from_onnx: no renamed model is written; layers keep the names that the model gives them")
    mod, weights = tvmq.from_onnx(model, shape, max_bytes=max_bytes, folder=folder)
    return _result(mod, weights, freeze_params)


def from_pytorch(
    script_module: Any, input_infos: Sequence[Any], custom_convert_map: Any = None, default_dtype: str = "float32",
    use_parser_friendly_name: bool = False, keep_quantized_weight: bool = False,
    export_renamed_c_graph_path: Any = None, preserve_pytorch_scopes: bool = False, *, max_bytes: int | None = None,
) -> tuple[IRModule, dict[str, tvm.runtime.Tensor]]:  # fmt: skip
    """A PyTorch model, as relay.frontend.from_pytorch; read through torch.export.

    script_module       what torch.jit.trace gave, an nn.Module, or a torch.export.ExportedProgram; of the last two
                        layers keep the names of their modules
    input_infos         [(name, shape)] or [(name, (shape, dtype))], in the order of `forward`
    custom_convert_map  refused where it is not empty: operators are registered with tvmq, see CONTRIBUTING
    max_bytes           bound on one tensor, as tvmq.from_torch
    raises              ModelError, UnsupportedOpError, MemoryLimitError as tvmq.from_torch

    The weights are in params, under names of their modules; all other options are accepted and change nothing.
    """
    import torch

    if custom_convert_map:
        raise ConfigError(
            "from_pytorch: custom_convert_map is not read; add a repair to tvmq/formats, see CONTRIBUTING"
        )
    infos, bound = [_info(item, default_dtype) for item in input_infos], check_max_bytes(max_bytes, "from_pytorch")
    for name, shape, dtype in infos:
        check_size(shape, dtype, bound, f"from_pytorch, input '{name}'")
    examples = tuple(torch.zeros(shape, dtype=getattr(torch, dtype)) for _, shape, dtype in infos)
    if isinstance(script_module, torch.jit.ScriptModule):
        script_module = _export_traced(script_module, examples)
    is_module = isinstance(script_module, torch.nn.Module)
    mod, weights = tvmq.from_torch(script_module, examples if is_module else None, max_bytes=max_bytes)
    named = _rename_inputs(mod, [name for name, _, _ in infos])
    return _result(_fix_sizes(named, [shape for _, shape, _ in infos]), weights, freeze=False)


def __getattr__(name: str) -> Callable[..., NoReturn]:
    """Importers that are not here say what to do when they are called."""
    if name not in OTHERS:
        raise AttributeError(f"module 'tvmq.relay.frontend' has no attribute {name!r}")

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise UnsupportedOpError(
            f"relay.frontend.{name}: this format is not read; make it ONNX by {OTHERS[name]}, then use from_onnx"
        )

    return refuse


def _result(
    mod: tvm.IRModule, weights: Mapping[str, np.ndarray], freeze: bool
) -> tuple[IRModule, dict[str, tvm.runtime.Tensor]]:
    params = {name: tvm.runtime.tensor(value) for name, value in weights.items()}
    if freeze and params:
        mod, params = relax.transform.BindParams("main", params)(mod), {}
    return as_module(mod), params


def _fix_sizes(mod: tvm.IRModule, shapes: Sequence[Sequence[int]]) -> tvm.IRModule:
    """Inputs of these shapes; torch's converter may have taken their dimensions for dynamic ones."""
    sizes = {
        str(dim.name): int(size)
        for param, shape in zip(mod["main"].params, shapes, strict=False)
        for dim, size in zip(param.ty.shape, shape, strict=True)
        if isinstance(dim, tvm.ir.Var)
    }
    return relax.transform.BindSymbolicVars(sizes)(mod) if sizes else mod


def _export_traced(module: Any, examples: tuple[Any, ...]) -> Any:
    """A traced or scripted module as an exported program, by torch's own converter while torch has it."""
    try:
        from torch._export.converter import TS2EPConverter

        return TS2EPConverter(module, examples).convert()
    except Exception as error:  # whatever torch's converter raises, or its absence
        reason = str(error).strip().splitlines()[:1] or [type(error).__name__]
        raise ModelError(
            f"from_pytorch: the traced module cannot be exported ({reason[0]}); leave out torch.jit.trace and give the "
            "nn.Module itself"
        ) from error


def _info(item: Any, default_dtype: str) -> tuple[str, tuple[int, ...], str]:
    """(name, shape, element type) of an input."""
    name, shape = item
    shape, dtype = shape if shape and isinstance(shape[0], list | tuple) else (shape, default_dtype)
    return str(name), tuple(int(size) for size in shape), str(dtype).removeprefix("torch.")


def _rename_inputs(mod: tvm.IRModule, names: Sequence[str]) -> tvm.IRModule:
    """The module with its inputs under other names."""
    main = mod["main"]
    count = int(main.attrs["num_input"])
    if len(names) != count:
        raise ModelError(
            f"from_pytorch: the model takes {count} inputs, input_infos names {len(names)}; name each once"
        )
    mod = mod.clone()
    mod["main"] = rename_inputs(main, names)
    return mod
