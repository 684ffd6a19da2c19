"""Write the address of the repository into README.md and setup.cfg of a release; the tree itself names no host.

Usage     python tools/name_repository.py https://HOST/OWNER/tvmq v0.1.0
Changes   relative links and pictures of README.md become absolute ones of that tag, which a package index can follow;
          `project_urls` in setup.cfg
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!#|[a-z]+:)([^)\s]+)\)")
AFTER = re.compile(r"^author = .*$", re.M)


def make_absolute(text: str, address: str, tag: str) -> str:
    """Markdown whose relative links lead to files of the tag.

    >>> make_absolute("![a](b.svg), [c](d.md#e), [f](#g)", "https://h/o/r", "v1")
    '![a](https://h/o/r/raw/v1/b.svg), [c](https://h/o/r/blob/v1/d.md#e), [f](#g)'
    """

    def replace(match: re.Match[str]) -> str:
        mark, label, path = match.groups()
        return f"{mark}[{label}]({address}/{'raw' if mark else 'blob'}/{tag}/{path})"

    return LINK.sub(replace, text)


def add_addresses(config: str, address: str, tag: str) -> str:
    """setup.cfg with `project_urls`.

    raises  ValueError where they would have no place, or are there already
    """
    if "project_urls" in config or not AFTER.search(config):
        raise ValueError("setup.cfg: project_urls belong behind 'author =', once")
    pages = {
        "Source": address, "Documentation": f"{address}/blob/{tag}/docs/index.md",
        "Changelog": f"{address}/blob/{tag}/CHANGELOG.md", "Issues": f"{address}/issues",
    }  # fmt: skip
    lines = "".join(f"\n    {name} = {page}" for name, page in pages.items())
    return AFTER.sub(lambda match: f"{match[0]}\nproject_urls ={lines}", config, count=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("tag")
    options = parser.parse_args()
    address = options.address.rstrip("/")
    for name, change in (("README.md", make_absolute), ("setup.cfg", add_addresses)):
        path = ROOT / name
        path.write_text(change(path.read_text(encoding="utf-8"), address, options.tag), encoding="utf-8")


if __name__ == "__main__":
    main()
