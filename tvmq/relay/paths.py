"""Modules of Relay and TVM that scripts import by their paths, and where their names stand here.

    from tvmq.relay.testing.mlp import get_workload          # tvmq.relay.testing.small.get_mlp_workload
    from tvmq.relay.tvm.contrib import graph_executor        # tvmq.relay.graph_executor

A path of the table is imported like any module, and has the names of its row. A place below `tvm` gives all other names
as TVM has them today. What is nowhere is an ImportError that says the way round. All modules here are packages, so that
Python asks here for `register_strategy`, too, in `from tvmq.relay.op import register_strategy`.

Only a finder in `sys.meta_path` can do all three: entries of `sys.modules` made ahead would serve the table, but the
modules of TVM are not known before they are asked for, and of an AttributeError of a module's `__getattr__` the
statement `from ... import` keeps no word. It answers for names below tvmq.relay alone.

>>> from tvmq.relay.testing import mlp
>>> mlp.get_net.__name__, mlp.__name__
('get_mlp', 'tvmq.relay.testing.mlp')
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from tvmq.errors import TvmqError

_ROOT = "tvmq.relay"

# Path -> {module: its names, "name=object" where they differ}, all below tvmq.relay
PATHS: dict[str, dict[str, str]] = {
    "backend": {"build_module": "Executor Runtime"},
    "debug_executor": {"graph_executor": "GraphModuleDebug create=create_debug"},
    "function": {"expr": "Function"},
    "op.op": {
        "op.registry": "Op get",
        "op.own_compute": "OpPattern register_compute register_injective_schedule register_pattern register_schedule "
        "schedule_injective",
    },
    "param_dict": {"executor_factory": "load_param_dict save_param_dict"},
    "scope_builder": {"module": "ScopeBuilder"},
    "qnn": {},
    "qnn.op": {
        "op.qnn": "add batch_matmul concatenate conv2d conv2d_transpose dense dequantize mul quantize requantize "
        "simulated_dequantize simulated_quantize subtract",
        "op.qnn_tables": "abs erf exp hardswish leaky_relu log rsqrt sigmoid sqrt tanh",
    },
    "quantize._partition": {"quantize.context": "QPartitionExpr"},
    "quantize._partition_conversions": {"quantize.stages": "NotIntegral partition_conversions"},
    "quantize.kl_divergence": {"quantize.thresholds": "_find_scale_by_kl"},
    "testing.dcgan": {"testing.small": "get_net=get_dcgan get_workload=get_dcgan_workload"},
    "testing.densenet": {"testing.branches": "get_net=get_densenet get_workload=get_densenet_workload"},
    "testing.dqn": {"testing.small": "get_net=get_dqn get_workload=get_dqn_workload"},
    "testing.inception_v3": {"testing.branches": "get_net=get_inception get_workload=get_inception_workload"},
    "testing.lstm": {"testing.small": "get_net=get_lstm get_workload=get_lstm_workload lstm_cell"},
    "testing.mlp": {"testing.small": "get_net=get_mlp get_workload=get_mlp_workload"},
    "testing.mobilenet": {
        "testing.chain_networks": "conv_block get_workload=get_mobilenet_workload mobile_net separable_conv_block"
    },
    "testing.resnet_3d": {"testing.resnet": "get_net=get_resnet_3d get_workload=get_resnet_3d_workload"},
    "testing.squeezenet": {"testing.chain_networks": "get_net=get_squeezenet get_workload=get_squeezenet_workload"},
    "testing.synthetic": {"testing.small": "get_net=get_synthetic get_workload=get_synthetic_workload"},
    "testing.vgg": {"testing.chain_networks": "get_net=get_vgg get_workload=get_vgg_workload"},
    "tvm.contrib": {},
    "tvm.contrib.debugger": {},
    "tvm.contrib.debugger.debug_executor": {"graph_executor": "GraphModuleDebug create=create_debug"},
    "tvm.contrib.download": {},
    "tvm.contrib.graph_executor": {"graph_executor": "GraphModule create"},
    "tvm.contrib.graph_runtime": {"graph_executor": "GraphModule create"},  # its name before TVM 0.8
    "tvm.contrib.utils": {"tvm.utils": "TempDirectory tempdir"},
    "tvm.ir": {"module": "IRModule", "types": "FuncType TensorType TupleType"},
    "tvm.parser": {"text.reader": "fromtext=parse parse parse_expr"},
    "tvm.runtime": {
        "executor_factory": "load_module load_param_dict save_param_dict", "tvm": "ndarray=nd", "tvm.nd": "NDArray",
    },
    "tvm.runtime.vm": {"vm": "Executable VirtualMachine load_executable"},
    "tvm.transform": {"transform": "PassContext Sequential module_pass"},
}  # fmt: skip


def targets(path: str) -> dict[str, str]:
    """{name: "module:object"} of a path of the table.

    >>> targets("debug_executor")["create"]
    'tvmq.relay.graph_executor:create_debug'
    """
    return read_names(PATHS[path])


def read_names(rows: Mapping[str, str]) -> dict[str, str]:
    """{name: "module:object"} of rows {module: its names}."""
    words = [(module, word.partition("=")) for module, listed in rows.items() for word in listed.split()]
    return {name: f"{_ROOT}.{module}:{held or name}" for module, (name, _, held) in words}


class _Places(MetaPathFinder, Loader):
    """Finds the modules of this layer: those that are files, those of the table, and TVM's behind `tvm`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's place; None for modules of others, and where there is nothing to say but that.

        raises   ImportError that says the way round, for what Relay and TVM had and is not here
        """
        place = fullname.removeprefix(f"{_ROOT}.")
        if place == fullname:
            return None
        if place in PATHS:
            return ModuleSpec(fullname, self, is_package=True)
        file = Path(__file__).parent.joinpath(*place.split(".")).with_suffix(".py")
        if file.exists():
            spec = spec_from_file_location(fullname, file)
            assert spec
            spec.submodule_search_locations = []
            return spec
        if file.with_suffix("").joinpath("__init__.py").exists():
            return None
        return ModuleSpec(fullname, self, is_package=True) if _elsewhere(fullname) is not None else None

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its names, each of which is looked up when it is first used."""
        place = module.__name__.removeprefix(f"{_ROOT}.")
        if place not in PATHS:  # Python's import takes what stands in sys.modules afterwards
            sys.modules[module.__name__] = _elsewhere(module.__name__)
            return
        names = targets(place)
        module.__doc__ = f"{place}, as scripts of Relay import it; see tvmq/relay/paths.py."
        module.__dict__["__all__"] = sorted(names)
        module.__dict__["__getattr__"] = _lookup(place, names)


def _lookup(place: str, names: dict[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a module of the table."""

    def look_up(name: str) -> Any:
        if name in names:
            module_name, _, held = names[name].partition(":")
            return getattr(importlib.import_module(module_name), held)
        if f"{place}.{name}" in PATHS:
            return importlib.import_module(f"{_ROOT}.{place}.{name}")
        if place.startswith("tvm."):
            from tvmq.relay.tvm.forward import forward

            return forward(place, name)
        from tvmq.relay.advice import way_round

        way = way_round(f"{place}.{name}")
        missing = f"module '{_ROOT}.{place}' has no attribute {name!r}"
        raise AttributeError(f"relay.{place}.{name}: {way}" if way else missing)

    return look_up


def _elsewhere(fullname: str) -> Any:
    """The module that an attribute of the package is, TVM's among them; None if there is nothing to say.

    raises   ImportError with the sentence that the attribute is refused with
    """
    from tvmq.relay.advice import way_round
    from tvmq.relay.tvm.forward import RemovedModule, inside

    package_name, _, name = fullname.rpartition(".")
    package = sys.modules[package_name]
    try:
        held = inside(package, name) if package.__name__.partition(".")[0] == "tvm" else getattr(package, name)
    except (AttributeError, TvmqError) as error:
        place = fullname.removeprefix(f"{_ROOT}.")
        way = way_round(place)
        refusal = f"relay.{place}: {way}" if way else str(error)
        if refusal.startswith("module '"):  # Python's own words say no more than that
            return None
        raise ImportError(refusal) from None
    return held if isinstance(held, ModuleType | RemovedModule) else None


def find_places() -> None:
    """Have Python's import ask here first; each module of this layer has one place only."""
    if not any(type(finder).__name__ == _Places.__name__ for finder in sys.meta_path):
        sys.meta_path.insert(0, _Places())
