"""How sphinx builds the site: `make docs`, or `sphinx-build -W --keep-going -b html docs build/docs`."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE / "_ext")]

from tvmq.version import __version__  # noqa: E402

project = "tvmq"
author = "tvmq contributors"
copyright = author  # sphinx asks for this name
version = release = __version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "made_pages"]
exclude_patterns = ["_ext", "_static", "tutorials/downloads"]
autodoc_member_order = "bysource"
# `None` and names of types as the source has them
autodoc_preserve_defaults = True
autodoc_type_aliases = {name: name for name in ("ArrayLike", "DTypeLike", "Number", "Params", "Option")}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90

html_theme = "furo"
pygments_dark_style = "github-dark"  # the default underlines names, as if they were links
html_title = f"tvmq {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
# No source pages and no date: the same tree gives the same site
html_copy_source = False
html_show_copyright = False

# GitHub's anchors, so that links to headings work there and here
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]
# Notebooks come with their outputs from `make tutorials`
nb_execution_mode = "off"
# "llvm" is a string, and stays one
smartquotes = False
# Program output is no language, and pygments' guesses are warnings
highlight_language = "text"
