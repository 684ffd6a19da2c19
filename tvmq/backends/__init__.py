"""Descriptions of what targets compute, as data: BACKENDS maps a name to "module:object", loaded on use.

    description.py      Backend: what is said of all operators
    operator_entry.py   OperatorEntry: what is said of one kind of them; tensor_forms.py: of their tensors
    consistency.py      what must go together
    json_form.py        the same as JSON, a file of which is a backend's name, too
    backend_options.py  what follows for the options of qconfig

`quantize(..., target="cpu")` decides by the description alone, never by the machine it runs on.
"""

from __future__ import annotations

import difflib

from tvmq.backends.description import Backend
from tvmq.backends.operator_entry import OperatorEntry
from tvmq.backends.tensor_forms import TensorForm, WeightForm
from tvmq.base.by_name import object_named
from tvmq.errors import ConfigError

__all__ = ["BACKENDS", "Backend", "OperatorEntry", "TensorForm", "WeightForm", "backend_named"]

BACKENDS: dict[str, str] = {
    "cpu": "tvmq.backends.cpu:CPU",
    "cpu_with_dot_product": "tvmq.backends.cpu_with_dot_product:CPU_WITH_DOT_PRODUCT",
    "cpu_without_vnni": "tvmq.backends.cpu_without_vnni:CPU_WITHOUT_VNNI",
    "tensorrt": "tvmq.backends.tensorrt:TENSORRT",
    "tflite": "tvmq.backends.tflite:TFLITE",
    "tosa": "tvmq.backends.tosa:TOSA",
    "cmsis_nn": "tvmq.backends.cmsis_nn:CMSIS_NN",
}
JSON = ".json"


def backend_named(name: str | Backend | None) -> Backend:
    """The description of that name; None is the portable CPU.

    name    of BACKENDS, a file "mychip.json", or "module:object" that holds a Backend; a Backend is given back as it is
    raises  ConfigError for an unknown name, with near misses, and for a file that describes no backend

    >>> backend_named(None).name
    'cpu'
    """
    if isinstance(name, Backend):
        return name
    name = "cpu" if name is None else name
    if isinstance(name, str) and name.endswith(JSON):
        from tvmq.backends.json_form import read_backend

        return read_backend(name)
    target = BACKENDS.get(name, name) if isinstance(name, str) else ""
    if ":" not in target:
        near = difflib.get_close_matches(str(name), BACKENDS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ConfigError(
            f"quantize: target must be None, one of {', '.join(BACKENDS)}, a file of JSON, a tvmq.Backend or its "
            f'"module:object". Got {name!r} instead{hint}'
        )
    return _load_backend(target)


def _load_backend(target: str) -> Backend:
    """The description that "module:object" names."""
    backend = object_named(target, "quantize", "backend description")
    if not isinstance(backend, Backend):
        raise ConfigError(f"quantize: {target!r} is a {type(backend).__name__}, not a tvmq.Backend")
    return backend
