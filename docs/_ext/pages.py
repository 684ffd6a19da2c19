"""Generated pages: written beside the others, where they change alone, and never committed."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
NOTEBOOK = re.compile(r"\[([^\[\]]*)\]\((\d\d_\w+)\.ipynb\)")
# Folders of docs/ that hold generated pages only (.gitignore has them)
GENERATED = ("reference", "passes", "tutorials")
# In `tutorials`: what a reader downloads, which is no page
DOWNLOADS = "downloads"


class Page(NamedTuple):
    """A page: its path below docs/ without suffix, and its text in Markdown."""

    path: str
    text: str


def write(pages: list[Page]) -> None:
    """Write what has changed, so that a second build is short, and delete files that belong to no page."""
    wanted = {DOCS / f"{page.path}.md": page.text for page in pages}
    for path, text in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for folder in GENERATED:
        for path in (DOCS / folder).glob("**/*.md"):
            if path not in wanted:
                path.unlink()


def copy_notebooks() -> list[str]:
    """Names of the tutorials that `make tutorials` has executed; they are copied beside the pages."""
    folder = DOCS / "tutorials"
    shutil.rmtree(folder, ignore_errors=True)
    notebooks = sorted((ROOT / "build" / "tutorials").glob("*.ipynb"))
    names = [notebook.stem for notebook in notebooks]
    for notebook in notebooks:
        (folder / DOWNLOADS).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(notebook, folder / DOWNLOADS / notebook.name)
        shutil.copyfile(ROOT / "tutorials" / f"{notebook.stem}.py", folder / DOWNLOADS / f"{notebook.stem}.py")
        text = with_downloads(linked(notebook.read_text(encoding="utf-8"), names), notebook.stem)
        (folder / notebook.name).write_text(text, encoding="utf-8")
    return names


def with_downloads(text: str, name: str) -> str:
    """A notebook whose first cell ends with links to the notebook, with its outputs, and to the script.

    >>> cells = [{"cell_type": "markdown", "source": ["# 01"]}]
    >>> print("".join(json.loads(with_downloads(json.dumps({"cells": cells}), "01_one"))["cells"][0]["source"]))
    # 01
    <BLANKLINE>
    Download: {download}`01_one.ipynb <downloads/01_one.ipynb>`, {download}`01_one.py <downloads/01_one.py>`
    """
    notebook = json.loads(text)
    links = [f"{{download}}`{file} <{DOWNLOADS}/{file}>`" for file in (f"{name}.ipynb", f"{name}.py")]
    notebook["cells"][0]["source"] = [*notebook["cells"][0]["source"], f"\n\nDownload: {', '.join(links)}"]
    return json.dumps(notebook, indent=1, ensure_ascii=False)


def linked(text: str, names: list[str]) -> str:
    """A notebook whose links to notebooks that were not made are plain text.

    >>> linked("[one](01_one.ipynb) and [two](02_two.ipynb)", ["01_one"])
    '[one](01_one.ipynb) and two'
    """
    return NOTEBOOK.sub(lambda match: match[0] if match[2] in names else match[1], text)


def rst(lines: list[str]) -> str:
    """reStructuredText inside of a page in Markdown."""
    return "\n".join(["````{eval-rst}", *lines, "````", ""])


def toctree(names: list[str], *, hidden: bool = False) -> str:
    """The pages below one."""
    return "\n".join(["```{toctree}", ":hidden:" if hidden else ":maxdepth: 1", "", *names, "```", ""])
