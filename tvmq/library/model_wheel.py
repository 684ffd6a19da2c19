"""A library as a package for pip: `import digits; digits.run(x)`, with NumPy alone.

    digits                  the module: run, input_info, output_info, model
    digits/libdigits.so     digits/digits.json
    digits/_tvmq/           the modules of tvmq that open libraries, as they are but for their imports of each other

Equal models give equal bytes.

Tests: tests/library/test_model_wheel.py
"""

from __future__ import annotations

import ast
import base64
import hashlib
import io
import keyword
import re
import zipfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tvmq.errors import ConfigError
from tvmq.version import __version__

LOADER = "tvmq.runtime.c_library"
COPIES = "_tvmq"  # package of the copies
TAG = "py3-none-manylinux2014_"  # the library needs no version of the C library
VERSION = re.compile(r"\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?(\+[a-z0-9]+(\.[a-z0-9]+)*)?")  # of PEP 440
EPOCH = (1980, 1, 1, 0, 0, 0)
FILE_MODE = 0o100644
PACKAGE = '''{doc!r}

from pathlib import Path

from {name}.{copies}.runtime.c_library import load_library

model = load_library(Path(__file__).parent)
input_info, output_info = model.input_info, model.output_info


def run(*arrays):
    """Inputs in order; the result alone if there is one output, else a list."""
    return model(*arrays)
'''
METADATA = """Metadata-Version: 2.1
Name: {distribution}
Version: {version}
Summary: The model {name}, compiled by tvmq
Requires-Python: >=3.10
Requires-Dist: numpy
"""
WHEEL = """Wheel-Version: 1.0
Generator: tvmq {tvmq}
Root-Is-Purelib: false
Tag: {tag}
"""


def check_wheel(name: str, version: str) -> None:
    """ConfigError for a name that Python cannot import, or a version that pip does not take."""
    if keyword.iskeyword(name):
        raise ConfigError(f"export_library: no program can import {name!r}, a word of Python; choose another name")
    if not isinstance(version, str) or not VERSION.fullmatch(version):
        raise ConfigError(f"export_library: version must be one of pip's, such as '1.2.0'. Got {version!r} instead")


def make_wheel(
    name: str, version: str, library: bytes, facts_text: str, facts: dict[str, Any], bills: Mapping[str, bytes]
) -> tuple[str, bytes]:
    """File name and bytes of the package.

    facts_text, facts   NAME.json, and what it says
    bills               bills of materials by their file names; PEP 770 says where a package has them
    """
    distribution = re.sub("_+", "_", name).strip("_")
    inputs, outputs = (", ".join(str(tensor["name"]) for tensor in facts[kind]) for kind in ("inputs", "outputs"))
    doc = f"The model {name}, compiled by tvmq {__version__}: run({inputs}) -> {outputs}."
    files = {
        f"{name}/__init__.py": PACKAGE.format(doc=doc, name=name, copies=COPIES).encode(),
        f"{name}/{name}.json": facts_text.encode(),
        f"{name}/lib{name}.so": library,
        **{f"{name}/{COPIES}/{path}": text.encode() for path, text in copy_loader(f"{name}.{COPIES}").items()},
    }
    info, tag = f"{distribution}-{version}.dist-info", TAG + facts["machine"]
    files[f"{info}/METADATA"] = METADATA.format(distribution=distribution, version=version, name=name).encode()
    files[f"{info}/WHEEL"] = WHEEL.format(tvmq=__version__, tag=tag).encode()
    files |= {f"{info}/sboms/{file}": data for file, data in bills.items()}
    record = f"{info}/RECORD"
    lines = [f"{path},sha256={_digest(data)},{len(data)}" for path, data in files.items()]
    files[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    return f"{distribution}-{version}-{tag}.whl", _pack(files)


def copy_loader(package: str) -> dict[str, str]:
    """The module that opens libraries and those of tvmq that it imports: {path in the package: text}.

    >>> copies = copy_loader("digits._tvmq")
    >>> "from digits._tvmq.errors import" in copies["runtime/c_library.py"]
    True
    """
    copies = {"__init__.py": f'"""Modules of tvmq {__version__}, Apache License 2.0, that open a library."""\n'}
    waiting = [LOADER]
    while waiting:
        module = waiting.pop()
        spec = find_spec(module)
        source = Path(spec.origin).read_text("utf-8") if spec and spec.origin else None
        is_room = spec is not None and spec.submodule_search_locations is not None
        path = "/".join(module.split(".")[1:]) + ("/__init__.py" if is_room else ".py")
        if source is None or path in copies:
            continue
        copies[path] = re.sub(r"^( *(?:from|import)) tvmq\b", rf"\1 {package}", source, flags=re.MULTILINE)
        room = module.rpartition(".")[0]
        waiting += [name for name in (*_list_imports(source), room) if name.startswith("tvmq.")]
    return copies


def _list_imports(source: str) -> list[str]:
    """Modules that a source imports from, wherever it does."""
    return [node.module for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom) and node.module]


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _pack(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, data in files.items():
            info = zipfile.ZipInfo(path, EPOCH)  # no clock: equal models are equal files
            info.compress_type, info.external_attr, info.create_system = zipfile.ZIP_DEFLATED, FILE_MODE << 16, 3
            archive.writestr(info, data)
    return buffer.getvalue()
