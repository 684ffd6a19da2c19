"""The runtime of libraries: its LLVM text is that of its C files."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tvmq.codegen.target.cpu import ARM, X86
from tvmq.library.assemble import OPTIONAL
from tvmq.library.runtime_object import TEXTS, hash_sources, read_source, runtime_object
from tvmq.runtime.artifact.link.elf_object import WEAK

TOOL = Path(__file__).parents[2] / "tools" / "library_runtime.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    """tools/library_runtime.py."""
    spec = importlib.util.spec_from_file_location("library_runtime", TOOL)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", TEXTS.values())
def test_text_names_the_hash_of_its_sources(name):
    advice = f"{sys.executable} tools/library_runtime.py writes it anew"
    assert read_source(name).startswith(f"; {hash_sources()} is the sha256 of the sources"), advice


@pytest.mark.parametrize("arch", TEXTS)
def test_text_is_what_clang_makes_of_the_sources(tool, arch):
    compiler = tool.find_compiler()
    if compiler is None:
        pytest.skip("clang-16 is not installed")
    assert tool.make_text(arch, compiler) == read_source(TEXTS[arch])


@pytest.mark.parametrize(("arch", "asked"), [(X86, "__tls_get_addr"), (ARM, "getauxval")])
def test_runtime_asks_for_two_functions_and_may_have_threads(arch, asked):
    source = runtime_object(arch)
    undefined = {symbol.name for symbol in source.symbols if symbol.name and not symbol.section}
    assert undefined == {asked, "memcpy", "model_plan", *OPTIONAL}
    assert all(symbol.bind == WEAK for symbol in source.symbols if symbol.name in OPTIONAL)
