"""tools/wheel_bom.py: the wheel with its hash, and what pip installs beside it; valid CycloneDX, the same each time."""

from __future__ import annotations

import hashlib
import json
import zipfile

import pytest

pytest.importorskip("cyclonedx", reason="in the extra bom")

from tools.wheel_bom import main  # noqa: E402

METADATA = """Metadata-Version: 2.4
Name: tvmq
Version: 1.2.3
License-Expression: Apache-2.0
Requires-Dist: numpy>=1.26
Requires-Dist: apache-tvm<0.28,>=0.27.0.post1
Requires-Dist: pillow>=10; extra == "images"

Text.
"""


@pytest.fixture
def dist(tmp_path):
    folder = tmp_path / "dist"
    folder.mkdir()
    with zipfile.ZipFile(folder / "tvmq-1.2.3-py3-none-any.whl", "w") as archive:
        archive.writestr("tvmq-1.2.3.dist-info/METADATA", METADATA)
    return folder


def test_the_wheel_and_what_it_needs(dist, tmp_path):
    path = main(dist, tmp_path / "bom")
    bill = json.loads(path.read_text())
    whole = bill["metadata"]["component"]
    digest = hashlib.sha256(next(dist.iterdir()).read_bytes()).hexdigest()
    assert (path.name, whole["purl"], whole["hashes"]) == (
        "tvmq.cdx.json", "pkg:pypi/tvmq@1.2.3", [{"alg": "SHA-256", "content": digest}],
    )  # fmt: skip
    assert {part["name"] for part in bill["components"]} == {"numpy", "apache-tvm"}
    needs = {entry["ref"]: set(entry.get("dependsOn", ())) for entry in bill["dependencies"]}
    assert needs["tvmq"] == {"numpy", "apache-tvm"}
    before = path.read_bytes()
    assert main(dist, tmp_path / "bom").read_bytes() == before


def test_it_is_valid(dist, tmp_path):
    validation = pytest.importorskip("cyclonedx.validation.json")
    from cyclonedx.exception import MissingOptionalDependencyException
    from cyclonedx.schema import SchemaVersion

    text = main(dist, tmp_path / "bom").read_text()
    try:
        error = validation.JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    except MissingOptionalDependencyException as missing:  # its validator is another extra
        pytest.skip(str(missing))
    assert error is None, error


@pytest.mark.parametrize("count", [0, 2])
def test_one_wheel_is_expected(dist, tmp_path, count):
    for wheel in dist.iterdir():
        wheel.rename(dist / "a.whl")
    (dist / "a.whl").unlink() if count == 0 else (dist / "b.whl").write_bytes(b"")
    with pytest.raises(SystemExit, match=f"has {count} wheels, one is expected; make packages builds it"):
        main(dist, tmp_path)
