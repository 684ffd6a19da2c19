"""English text that is there wherever the benchmarks run: the descriptions of packages that they depend on."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata

PACKAGES = ("typer", "rich", "onnx", "torch", "fastapi", "diskcache")


def package_text(packages: Sequence[str] = PACKAGES) -> str:
    """Lines of prose in the long descriptions of packages, one behind the other."""
    lines = "\n".join(str(metadata.metadata(name).get_payload()) for name in packages).splitlines()
    return "\n".join(line for line in lines if line[:1].isalpha() and len(line.split()) > 4 and "<" not in line)


def package_versions() -> str:
    """Names and versions of the packages, for a result."""
    return ", ".join(f"{name} {metadata.version(name)}" for name in PACKAGES)
