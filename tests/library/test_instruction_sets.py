"""Libraries with code for several instruction sets: which one runs, each one's results, constants that they share."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import tvmq
from tests.library.conftest import DigitsLibrary
from tvmq.codegen.target.cpu import missing_requirements, resolve_target
from tvmq.library.call_plan import make_plan
from tvmq.library.compile_library import compile_for
from tvmq.library.library_export import LibraryExport
from tvmq.runtime.artifact.native_library import runs_linux_x86
from tvmq.runtime.c_library import Buffer, ModelDescription, load_library
from tvmq.runtime.inputs import aligned_zeros

pytestmark = pytest.mark.skipif(not runs_linux_x86(), reason="libraries are opened on Linux on x86-64 only")
TARGETS = ("x86-64-v2", "x86-64-v3", "avx512-vnni")  # worst first: the order of a list does not matter
NULL, WRONG_CPU, NO_SUCH_CODE = -1, -7, -11
RUNS_HERE = [name for name in TARGETS if not missing_requirements(resolve_target(name))]


@pytest.fixture(scope="module")
def several(digits: DigitsLibrary, tmp_path_factory: pytest.TempPathFactory) -> LibraryExport:
    """The embedded network for all TARGETS."""
    folder = tmp_path_factory.mktemp("several") / "digits"
    return tvmq.export_library(digits.exe, folder, target=list(TARGETS))


@pytest.fixture(scope="module")
def library(several: LibraryExport) -> ctypes.CDLL:
    """The shared library, with the types of the functions that take pointers alone."""
    library = ctypes.CDLL(str(several.library))
    library.digits_workspace_bytes.restype = ctypes.c_int64
    library.digits_run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, Buffer, ctypes.c_void_p]
    return library


def name_of(target: str) -> str:
    """The name by which a library knows code."""
    return resolve_target(target).name


def chosen_code(library: ctypes.CDLL) -> str:
    """Name of the code that runs."""
    description = ModelDescription()
    assert library.digits_describe(ctypes.byref(description)) == 0
    return description.code.decode()


@pytest.mark.slow
def test_init_chooses_the_best_that_runs_here(several, library):
    assert several.targets == tuple(name_of(target) for target in reversed(TARGETS))
    assert library.digits_init() == 0
    assert chosen_code(library) == name_of(RUNS_HERE[-1])


@pytest.mark.slow
@pytest.mark.parametrize("target", RUNS_HERE)
def test_each_code_gives_the_bits_of_the_definition(target, digits, library):
    assert library.digits_select_code(name_of(target).encode()) == 0
    assert chosen_code(library) == name_of(target)
    image, scores = aligned_zeros((1, 1, 16, 16), "float32"), aligned_zeros((1, 10), "float32")
    workspace = aligned_zeros([library.digits_workspace_bytes(None, 1)], "uint8")
    buffers = [Buffer(array.ctypes.data, array.nbytes) for array in (image, scores, workspace)]
    for picture, expected in zip(digits.pictures, digits.expected, strict=True):
        image[...], scores[...] = picture, -1
        assert library.digits_run(None, ctypes.byref(buffers[0]), ctypes.byref(buffers[1]), buffers[2], None) == 0
        np.testing.assert_array_equal(scores.view(np.int32), expected.view(np.int32))


@pytest.mark.slow
def test_python_runs_the_best(digits, several):
    model = load_library(several.library.parent)
    np.testing.assert_array_equal(model(digits.pictures[:1]), digits.expected[0])


@pytest.mark.slow
def test_equal_constants_of_all_codes_stand_once(digits, several):
    plans = [make_plan(compile_for(digits.module, resolve_target(target)).module) for target in TARGETS]
    constants = [[array.tobytes() for array in plan.constants] for plan in plans]
    distinct, every = {data for one in constants for data in one}, [data for one in constants for data in one]
    assert len(distinct) < len(every)
    assert several.constant_bytes == sum(map(len, distinct)) < sum(map(len, every))
    file = several.library.read_bytes()
    long = [data for data in distinct if len(data) >= 1024]  # short ones may be parts of others
    assert long and {file.count(data) for data in long} == {1}


@pytest.mark.slow
def test_names_of_code_are_checked(library):
    assert library.digits_select_code(None) == NULL
    assert library.digits_select_code(b"x86-64-v9") == NO_SUCH_CODE == library.digits_select_code(b"x86-64")
    assert library.digits_init() == 0


@pytest.mark.slow
def test_code_that_does_not_run_here_is_not_chosen(digits, tmp_path):
    # no CPU has instructions of both: xop was AMD's until 2017, avx512fp16 Intel's of 2023 and AMD's after
    foreign = "llvm -mcpu=x86-64-v4 -mattr=+xop,+avx512fp16"
    export = tvmq.export_library(digits.exe, tmp_path / "digits", target=[foreign, "x86-64-v2"])
    library = ctypes.CDLL(str(export.library))
    assert export.targets[0] == name_of(foreign)
    assert library.digits_init() == 0 and chosen_code(library) == "x86-64-v2"
    assert library.digits_select_code(name_of(foreign).encode()) == WRONG_CPU
    assert chosen_code(library) == "x86-64-v2"
