"""A bill of materials of a wheel, as CycloneDX 1.6 in JSON: the wheel with its hash, and what pip installs beside it.

    python tools/wheel_bom.py           # of the wheel in dist/: writes build/bom/tvmq.cdx.json

Like those of libraries (tvmq/library/bill_of_materials.py) it has no time and no random number.
"""

from __future__ import annotations

import email
import hashlib
import json
import uuid
import zipfile
from pathlib import Path
from typing import Any

NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://cyclonedx.org/schema/bom-1.6")
NO_EXTRA = "extra =="


def read_metadata(wheel: Path) -> Any:
    """Metadata of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name))


def bill_of(wheel: Path) -> str:
    """The bill as text."""
    from cyclonedx.model import HashAlgorithm, HashType, Property
    from cyclonedx.model.bom import Bom
    from cyclonedx.model.component import Component, ComponentType
    from cyclonedx.model.license import DisjunctiveLicense
    from cyclonedx.output.json import JsonV1Dot6
    from packageurl import PackageURL
    from packaging.requirements import Requirement

    facts, digest = read_metadata(wheel), hashlib.sha256(wheel.read_bytes()).hexdigest()
    bill = Bom(serial_number=uuid.uuid5(NAMESPACE, digest))
    bill.metadata.timestamp = None  # type: ignore[assignment]
    name, version = facts["Name"], facts["Version"]
    whole = Component(
        name=name, version=version, type=ComponentType.LIBRARY, bom_ref=name,
        purl=PackageURL("pypi", None, name, version), hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
        licenses=[DisjunctiveLicense(id=facts["License-Expression"] or facts["License"])],
    )  # fmt: skip
    bill.metadata.component = whole
    parts = []
    for text in facts.get_all("Requires-Dist") or ():
        required = Requirement(text)
        if NO_EXTRA in str(required.marker or ""):
            continue
        bound = Property(name="tvmq:versions", value=str(required.specifier))
        parts.append(Component(
            name=required.name, type=ComponentType.LIBRARY, bom_ref=required.name,
            purl=PackageURL("pypi", None, required.name), properties=[bound],
        ))  # fmt: skip
    bill.components.update(parts)
    bill.register_dependency(whole, parts)
    return json.dumps(json.loads(JsonV1Dot6(bill).output_as_string()), indent=2) + "\n"


def main(dist: Path = Path("dist"), folder: Path = Path("build/bom")) -> Path:
    """Write the bill of the wheel in `dist`; it lies elsewhere, since an index would take it for a package."""
    wheels = sorted(dist.glob("*.whl"))
    if len(wheels) != 1:
        raise SystemExit(f"wheel_bom: '{dist}' has {len(wheels)} wheels, one is expected; make packages builds it")
    folder.mkdir(parents=True, exist_ok=True)
    bill = folder / f"{read_metadata(wheels[0])['Name']}.cdx.json"
    bill.write_text(bill_of(wheels[0]), encoding="utf-8")
    return bill


if __name__ == "__main__":
    print(main())
