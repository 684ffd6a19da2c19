"""oneDNN's C interface as far as onednn_peer.py needs it: int8 convolutions and products by ctypes."""

from __future__ import annotations

import ctypes
import sys
from ctypes import c_char_p, c_int, c_int64, c_size_t, c_void_p
from pathlib import Path
from typing import Any

import numpy as np

F32, S8, U8 = 3, 5, 6  # dnnl_data_type_t
ANY = 1  # dnnl_format_tag_t: the layout that the primitive likes best
Shape = tuple[int, ...]
CPU, IN_ORDER, INFERENCE, DIRECT = 1, 1, 96, 1
SOURCE, OUTPUT, WEIGHTS, BIAS, SCALES = 1, 17, 33, 41, 4096  # arguments of an execution
QUERY_SOURCE, QUERY_WEIGHTS, QUERY_OUTPUT, QUERY_NAME = 129, 131, 133, 8
ALIGNMENT, MOST_AXES = 64, 12


class _Version(ctypes.Structure):
    _fields_ = [("major", c_int), ("minor", c_int), ("patch", c_int), ("hash", c_char_p)]


class _Argument(ctypes.Structure):
    _fields_ = [("index", c_int), ("memory", c_void_p)]


def _library() -> Any:
    """libdnnl of the environment of this interpreter, where its package puts it."""
    (path, *_) = sorted(Path(sys.prefix, "lib").glob("libdnnl.so.*"))
    library = ctypes.CDLL(str(path))
    library.dnnl_version.restype = ctypes.POINTER(_Version)
    library.dnnl_memory_desc_get_size.restype = c_size_t
    library.dnnl_primitive_desc_query_md.restype = c_void_p
    return library


LIBRARY = _library()


def call(name: str, *arguments: Any) -> None:
    """Call a function of oneDNN; RuntimeError with its status where it fails."""
    status = getattr(LIBRARY, name)(*arguments)
    if status:
        raise RuntimeError(f"{name}: status {status}")


def made(name: str, *arguments: Any) -> c_void_p:
    """Create an object by a function of oneDNN."""
    handle = c_void_p()
    call(name, ctypes.byref(handle), *arguments)
    return handle


def _numbers(values: tuple[int, ...]) -> Any:
    return (c_int64 * MOST_AXES)(*values)


def _wanted(shape: tuple[int, ...], kind: int) -> c_void_p:
    """A tensor in any layout."""
    return made("dnnl_memory_desc_create_with_tag", len(shape), _numbers(shape), kind, ANY)


def _floats(*shape: int) -> c_void_p:
    """A dense tensor of float32."""
    strides = tuple(int(np.prod(shape[axis + 1 :])) for axis in range(len(shape)))
    return made("dnnl_memory_desc_create_with_strides", len(shape), _numbers(shape), F32, _numbers(strides))


class Engine:
    """The CPU and its one stream."""

    def __init__(self) -> None:
        self.handle = made("dnnl_engine_create", CPU, 0)
        self.stream = made("dnnl_stream_create", self.handle, IN_ORDER)

    @staticmethod
    def version() -> str:
        """Version of the library."""
        found = LIBRARY.dnnl_version().contents
        return f"{found.major}.{found.minor}.{found.patch}"

    @staticmethod
    def buffer(size: int) -> np.ndarray:
        """Aligned bytes, random."""
        data = np.random.default_rng(0).integers(0, 256, size + ALIGNMENT, dtype=np.uint8)
        return data[-data.ctypes.data % ALIGNMENT :][:size]

    def wait(self) -> None:
        """Until all that was executed has ended."""
        call("dnnl_stream_wait", self.stream)

    def convolution(
        self, source: Shape, weights: Shape, output: Shape, strides: Shape, dilations: Shape, pads: Shape
    ) -> Primitive:
        """Channels first; weights with a first axis of groups where there are any; the pads of ONNX."""
        spatial = len(strides)
        with_groups = len(weights) > spatial + 2
        descriptor = made(
            "dnnl_convolution_forward_primitive_desc_create", self.handle, INFERENCE, DIRECT,
            _wanted(source, U8), _wanted(weights, S8), _floats(output[1]), _wanted(output, U8), _numbers(strides),
            _numbers(tuple(d - 1 for d in dilations)), _numbers(pads[:spatial]), _numbers(pads[spatial:]),
            _scaled(3 if with_groups else 1),
        )  # fmt: skip
        return Primitive(self, descriptor, output[1], _floats(output[1]))

    def product(self, source: Shape, weights: Shape, output: Shape) -> Primitive:
        """Rows by columns, behind equal axes."""
        columns, axes = output[-1], len(output)
        bias = _floats(*(1,) * (axes - 1), columns)
        descriptor = made(
            "dnnl_matmul_primitive_desc_create", self.handle, _wanted(source, U8), _wanted(weights, S8), bias,
            _wanted(output, U8), _scaled(1 << (axes - 1)),
        )  # fmt: skip
        return Primitive(self, descriptor, columns, bias)


def _scaled(mask: int) -> c_void_p:
    """Attributes: a scale of the source, of the output, and of the weights along the axes of the mask."""
    attributes = made("dnnl_primitive_attr_create")
    for argument, axes in ((SOURCE, 0), (OUTPUT, 0), (WEIGHTS, mask)):
        call("dnnl_primitive_attr_set_scales_mask", attributes, argument, axes)
    return attributes


class Primitive:
    """A layer with its weights, bias and scales, ready to be bound to buffers.

    implementation              oneDNN's name of the code that it chose
    source_bytes, output_bytes  in the layouts that it chose
    """

    def __init__(self, engine: Engine, descriptor: c_void_p, channels: int, bias: c_void_p) -> None:
        self.engine = engine
        self.handle = made("dnnl_primitive_create", descriptor)
        name = c_char_p()
        call("dnnl_primitive_desc_query", descriptor, QUERY_NAME, 0, ctypes.byref(name))
        self.implementation = (name.value or b"").decode()
        self.layouts = {
            index: c_void_p(LIBRARY.dnnl_primitive_desc_query_md(descriptor, query, 0))
            for index, query in ((SOURCE, QUERY_SOURCE), (WEIGHTS, QUERY_WEIGHTS), (OUTPUT, QUERY_OUTPUT))
        }
        self.source_bytes, self.output_bytes = (self._bytes(index) for index in (SOURCE, OUTPUT))
        self.kept: list[np.ndarray] = []  # oneDNN holds pointers to them
        self.memories = {WEIGHTS: self._memory(self.layouts[WEIGHTS], engine.buffer(self._bytes(WEIGHTS)))}
        self.memories[BIAS] = self._memory(bias, np.ones(channels, np.float32))
        for argument, count in ((SOURCE, 1), (OUTPUT, 1), (WEIGHTS, channels)):
            scales = np.full(count, 0.01, np.float32)
            self.memories[SCALES | argument] = self._memory(_floats(count), scales)
        self.arguments: Any = None

    def _bytes(self, index: int) -> int:
        return int(LIBRARY.dnnl_memory_desc_get_size(self.layouts[index]))

    def _memory(self, descriptor: c_void_p, data: np.ndarray) -> c_void_p:
        self.kept.append(data)
        return made("dnnl_memory_create", descriptor, self.engine.handle, c_void_p(data.ctypes.data))

    def bind(self, source: np.ndarray, output: np.ndarray) -> None:
        """Read from the one buffer, write into the other."""
        memories = self.memories | {
            SOURCE: self._memory(self.layouts[SOURCE], source),
            OUTPUT: self._memory(self.layouts[OUTPUT], output),
        }
        pairs = [_Argument(index, memory) for index, memory in memories.items()]
        self.arguments = (_Argument * len(pairs))(*pairs)

    def execute(self) -> None:
        """Put it on the stream."""
        call("dnnl_primitive_execute", self.handle, self.engine.stream, len(self.arguments), self.arguments)
