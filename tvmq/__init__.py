"""tvmq: from a trained float model to an exact, fast int8 executable, on TVM Relax.

    mod, params = tvmq.from_onnx("model.onnx", shape={"x": (1, 3, 224, 224)})
    qmod = tvmq.quantize(mod, params, dataset)
    print(tvmq.explain(qmod))
    exe = tvmq.build(qmod, target="llvm")
    y = exe.run({"x": x})

The names of `__all__` are the public surface; everything else may change. Each is loaded when it is first
used, so that `import tvmq` costs milliseconds: TVM itself needs a second or more.

>>> tvmq_names = __all__
>>> "quantize" in tvmq_names and tvmq_names == sorted(tvmq_names)
True
"""

from __future__ import annotations

import os.path
import sys
from typing import TYPE_CHECKING, Any

import tvmq.base.forks  # noqa: F401  (a fork waits for imports of other threads from now on)
from tvmq.base.by_name import load_object
from tvmq.version import __version__

if TYPE_CHECKING:
    from tvmq import errors, extension, functional, reference
    from tvmq.backends.description import Backend
    from tvmq.calibration.observers.result import CalibrationResult
    from tvmq.chips.comparison.conformity import check_backend
    from tvmq.chips.comparison.on_chip import compare_dumps
    from tvmq.chips.emulation.conformance_explanation import check_conformance
    from tvmq.chips.emulation.emulator import emulate
    from tvmq.chips.emulation.identify import identify_requantize
    from tvmq.chips.emulation.vectors import conformance
    from tvmq.codegen.compile.build import build
    from tvmq.codegen.custom_lowering.lowering import Lowering
    from tvmq.formats.c.export_c import export_c
    from tvmq.formats.onnx.exporter.to_onnx import to_onnx
    from tvmq.formats.onnx.importer.from_onnx import from_onnx
    from tvmq.formats.relax import from_relax
    from tvmq.formats.tflite.to_tflite import to_tflite
    from tvmq.formats.torch.exporter.to_torch import to_torch
    from tvmq.formats.torch.importer.export import from_torch
    from tvmq.formats.tosa.to_tosa import to_tosa
    from tvmq.library.library_export import export_library
    from tvmq.numerics.spec import QParams, QuantSpec
    from tvmq.options.config import QConfig, current_qconfig, qconfig
    from tvmq.options.rules import Rule
    from tvmq.quantization.guard.bound import Guard
    from tvmq.quantization.observation import observe
    from tvmq.quantization.pipeline import quantize, run_calibration
    from tvmq.quantization.search.loop import search
    from tvmq.quantization.search.space import SearchSpace
    from tvmq.quantization.static_quantization import find_outliers
    from tvmq.runtime.executable import Executable
    from tvmq.runtime.load_model import load
    from tvmq.tensors.qtensor import QTensor
    from tvmq.tensors.quantize_tensor import quantize_tensor
    from tvmq.tools import testing
    from tvmq.tools.analysis.activations import activations
    from tvmq.tools.analysis.comparison import compare
    from tvmq.tools.analysis.explanation import explain
    from tvmq.tools.analysis.forecast import inspect
    from tvmq.tools.analysis.invariance import check_invariance
    from tvmq.tools.analysis.machine_speed import measure_machine
    from tvmq.tools.analysis.script import script
    from tvmq.tools.analysis.verification import verify
    from tvmq.tools.cli.quantize_model import quantize_model
    from tvmq.tools.drawing.draw import draw
    from tvmq.tools.generation.generate import generate
    from tvmq.tools.generation.replay_receipt import replay

__all__ = [
    "Backend",
    "CalibrationResult",
    "Executable",
    "Guard",
    "Lowering",
    "QConfig",
    "QParams",
    "QTensor",
    "QuantSpec",
    "Rule",
    "SearchSpace",
    "__version__",
    "activations",
    "build",
    "check_backend",
    "check_conformance",
    "check_invariance",
    "compare",
    "compare_dumps",
    "conformance",
    "current_qconfig",
    "draw",
    "emulate",
    "errors",
    "explain",
    "export_c",
    "export_library",
    "extension",
    "find_outliers",
    "from_onnx",
    "from_relax",
    "from_torch",
    "functional",
    "generate",
    "identify_requantize",
    "inspect",
    "load",
    "measure_machine",
    "observe",
    "qconfig",
    "quantize",
    "quantize_model",
    "quantize_tensor",
    "reference",
    "replay",
    "run_calibration",
    "script",
    "search",
    "testing",
    "to_onnx",
    "to_tflite",
    "to_torch",
    "to_tosa",
    "verify",
]

# Public name -> "module:object", or "module" where the name is the module itself.
_PUBLIC = {
    "Backend": "tvmq.backends.description:Backend",
    "CalibrationResult": "tvmq.calibration.observers.result:CalibrationResult",
    "Executable": "tvmq.runtime.executable:Executable",
    "Guard": "tvmq.quantization.guard.bound:Guard",
    "Lowering": "tvmq.codegen.custom_lowering.lowering:Lowering",
    "QConfig": "tvmq.options.config:QConfig",
    "QParams": "tvmq.numerics.spec:QParams",
    "QTensor": "tvmq.tensors.qtensor:QTensor",
    "QuantSpec": "tvmq.numerics.spec:QuantSpec",
    "Rule": "tvmq.options.rules:Rule",
    "SearchSpace": "tvmq.quantization.search.space:SearchSpace",
    "activations": "tvmq.tools.analysis.activations:activations",
    "build": "tvmq.codegen.compile.build:build",
    "check_backend": "tvmq.chips.comparison.conformity:check_backend",
    "check_conformance": "tvmq.chips.emulation.conformance_explanation:check_conformance",
    "check_invariance": "tvmq.tools.analysis.invariance:check_invariance",
    "compare": "tvmq.tools.analysis.comparison:compare",
    "compare_dumps": "tvmq.chips.comparison.on_chip:compare_dumps",
    "conformance": "tvmq.chips.emulation.vectors:conformance",
    "current_qconfig": "tvmq.options.config:current_qconfig",
    "draw": "tvmq.tools.drawing.draw:draw",
    "emulate": "tvmq.chips.emulation.emulator:emulate",
    "errors": "tvmq.errors",
    "explain": "tvmq.tools.analysis.explanation:explain",
    "export_c": "tvmq.formats.c.export_c:export_c",
    "export_library": "tvmq.library.library_export:export_library",
    "extension": "tvmq.extension",
    "find_outliers": "tvmq.quantization.static_quantization:find_outliers",
    "from_onnx": "tvmq.formats.onnx.importer.from_onnx:from_onnx",
    "from_relax": "tvmq.formats.relax:from_relax",
    "from_torch": "tvmq.formats.torch.importer.export:from_torch",
    "functional": "tvmq.functional",
    "generate": "tvmq.tools.generation.generate:generate",
    "identify_requantize": "tvmq.chips.emulation.identify:identify_requantize",
    "inspect": "tvmq.tools.analysis.forecast:inspect",
    "load": "tvmq.runtime.load_model:load",
    "measure_machine": "tvmq.tools.analysis.machine_speed:measure_machine",
    "observe": "tvmq.quantization.observation:observe",
    "qconfig": "tvmq.options.config:qconfig",
    "quantize": "tvmq.quantization.pipeline:quantize",
    "quantize_model": "tvmq.tools.cli.quantize_model:quantize_model",
    "quantize_tensor": "tvmq.tensors.quantize_tensor:quantize_tensor",
    "reference": "tvmq.reference",
    "replay": "tvmq.tools.generation.replay_receipt:replay",
    "run_calibration": "tvmq.quantization.pipeline:run_calibration",
    "script": "tvmq.tools.analysis.script:script",
    "search": "tvmq.quantization.search.loop:search",
    "testing": "tvmq.tools.testing",
    "to_onnx": "tvmq.formats.onnx.exporter.to_onnx:to_onnx",
    "to_tflite": "tvmq.formats.tflite.to_tflite:to_tflite",
    "to_tosa": "tvmq.formats.tosa.to_tosa:to_tosa",
    "to_torch": "tvmq.formats.torch.exporter.to_torch:to_torch",
    "verify": "tvmq.tools.analysis.verification:verify",
}


_HERE = os.path.dirname(os.path.abspath(__file__))
_PASSES = os.path.join(os.path.dirname(_HERE), "passes")


class _PassesBeside:
    """Finds tvmq.passes where Python was started in the folder of the sources: it lies beside `tvmq` there, not in it.

    The passes are what most readers of the sources look for, so they stand at the top; an installation puts them in
    their place. A longer `tvmq.__path__` would need no finder, but tests and tools would be importable as tvmq.tests.
    The last of all finders, so an installation that has the package, editable ones too, is asked before.
    """

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        """The package's place; None for every other name."""
        if name != "tvmq.passes":
            return None
        from importlib.util import spec_from_file_location

        file = os.path.join(_PASSES, "__init__.py")
        return spec_from_file_location(name, file, submodule_search_locations=[_PASSES])


def _look_beside() -> None:
    inside = os.path.isdir(os.path.join(_HERE, "passes"))
    if not inside and os.path.isfile(os.path.join(_PASSES, "__init__.py")):
        sys.meta_path.append(_PassesBeside)


_look_beside()


def __getattr__(name: str) -> Any:
    """Load a public name on first use (PEP 562) and keep it."""
    if name == "training":  # no name of __all__: it needs an extra
        return load_object("tvmq.training")
    if name not in _PUBLIC:
        raise AttributeError(f"module 'tvmq' has no attribute {name!r}")
    value = load_object(_PUBLIC[name])
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return list(__all__)
