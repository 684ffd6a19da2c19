"""NAME.cdx.json: what a library is made of, as an ML-BOM of CycloneDX 1.6.

    metadata    the library as a file, with its hash; tvmq, TVM and NumPy as the tools that made it
    components  the model, with the hash that `describe` tells, targets, inputs and outputs; the runtime inside; the
                calibration data, by their fingerprint

It has no time and no random number: equal libraries have equal bills.

Tests: tests/library/test_bill_of_materials.py
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tvm
import tvm_ffi

from tvmq.base.foreign_errors import needs_extra
from tvmq.library.interface import Interface
from tvmq.library.runtime_object import hash_sources
from tvmq.version import __version__

NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://cyclonedx.org/schema/bom-1.6")
TOOLS = {
    "tvmq": __version__, "apache-tvm": tvm.__version__, "apache-tvm-ffi": tvm_ffi.__version__, "numpy": np.__version__,
}  # fmt: skip
LIBRARY, MODEL, RUNTIME, DATA = "library", "model", "runtime", "calibration-data"  # references inside a bill


def check_package() -> None:
    """ConfigError if cyclonedx-python-lib is not installed."""
    with needs_extra("export_library", "cyclonedx-python-lib", "bom"):
        import cyclonedx.model.bom
        import cyclonedx.output.json  # noqa: F401


def bill_text(interface: Interface, library: bytes, targets: Sequence[str], data_hash: str) -> str:
    """The bill as JSON.

    library    bytes of libNAME.so
    targets    names of the CPUs that it has code for
    data_hash  `CalibrationResult.data_hash` of the data that ranges were chosen from; "" where none is known
    """
    from cyclonedx.model.bom import Bom
    from cyclonedx.output.json import JsonV1Dot6

    bill = Bom(serial_number=uuid.uuid5(NAMESPACE, hashlib.sha256(library).hexdigest()))
    bill.metadata.timestamp = None  # type: ignore[assignment]
    for version_of, version in TOOLS.items():
        bill.metadata.tools.components.add(_package(version_of, version))
    file, *parts = _components(interface, library, targets, data_hash)
    bill.metadata.component = file
    bill.components.update(parts)
    bill.register_dependency(file, [part for part in parts if part.bom_ref.value in (MODEL, RUNTIME)])
    bill.register_dependency(parts[0], [part for part in parts if part.bom_ref.value == DATA])
    entries = json.loads(JsonV1Dot6(bill).output_as_string())
    (model,) = (entry for entry in entries["components"] if entry["bom-ref"] == MODEL)
    model["modelCard"] = _model_card(interface, data_hash)
    return json.dumps(entries, indent=2) + "\n"


def _components(interface: Interface, library: bytes, targets: Sequence[str], data_hash: str) -> list[Any]:
    """The library, then what is in it and behind it."""
    from cyclonedx.model import HashAlgorithm, HashType, Property
    from cyclonedx.model.component import Component, ComponentType
    from cyclonedx.model.license import DisjunctiveLicense

    def sha256(digest: str) -> list[HashType]:
        return [HashType(alg=HashAlgorithm.SHA_256, content=digest)]

    def properties(values: Mapping[str, str]) -> list[Property]:
        return [Property(name=f"tvmq:{name}", value=value) for name, value in values.items()]

    facts = {"target": " ".join(targets), "code_hash": interface.code_hash}
    components = [
        Component(
            name=f"lib{interface.name}.so", type=ComponentType.FILE, bom_ref=LIBRARY,
            hashes=sha256(hashlib.sha256(library).hexdigest()), properties=properties(facts),
        ),
        Component(
            name=interface.name, type=ComponentType.MACHINE_LEARNING_MODEL, bom_ref=MODEL,
            hashes=sha256(interface.model_hash), properties=properties({"hashed": "module and constants"}),
        ),
        Component(
            name="tvmq-runtime", type=ComponentType.LIBRARY, version=__version__, bom_ref=RUNTIME,
            description="the runtime in C that the library contains", hashes=sha256(hash_sources()),
            licenses=[DisjunctiveLicense(id="Apache-2.0")], properties=properties({"hashed": "sources"}),
        ),
    ]  # fmt: skip
    if data_hash:  # no hash of a file: it does not depend on how samples are ordered and batched
        data = Component(name="calibration data", type=ComponentType.DATA, bom_ref=DATA)
        data.properties.update(properties({"fingerprint": data_hash}))
        components.append(data)
    return components


def _package(name: str, version: str) -> Any:
    from cyclonedx.model.component import Component, ComponentType
    from packageurl import PackageURL

    return Component(
        name=name, type=ComponentType.LIBRARY, version=version, purl=PackageURL("pypi", None, name, version)
    )


def _model_card(interface: Interface, data_hash: str) -> dict[str, Any]:
    """The part of the standard for models, which the package cannot write."""
    parameters: dict[str, Any] = {"datasets": [{"ref": DATA}]} if data_hash else {}
    for kind, tensors in (("inputs", interface.inputs), ("outputs", interface.outputs)):
        formats = (f"{tensor['name']}: {tensor['dtype']} {list(tensor['shape'])}" for tensor in tensors)
        parameters[kind] = [{"format": text} for text in formats]
    return {"modelParameters": parameters}
