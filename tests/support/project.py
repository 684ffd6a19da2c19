"""Facts about the project that several tests use: its packages, files and modules."""

from __future__ import annotations

from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).parents[2]


def setup_cfg() -> ConfigParser:
    parser = ConfigParser()
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser


def source_files() -> list[Path]:
    """Every Python file of the package, `passes/` included."""
    return sorted(path for folder in ("tvmq", "passes") for path in (ROOT / folder).rglob("*.py"))


def module_name(path: Path) -> str:
    """Name under which a file of the package is imported: passes/families/add.py is tvmq.passes.families.add."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts if parts[0] == "tvmq" else ("tvmq", *parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules() -> list[str]:
    """Names of all modules of the package."""
    return sorted(map(module_name, source_files()))
