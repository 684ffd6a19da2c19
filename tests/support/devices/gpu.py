"""Requirements of tests of CUDA, and the reason why they are skipped where one is absent."""

import shutil

import pytest
import tvm

from tvmq.codegen.target.nvcc import find_nvcc

NO_GPU = not tvm.cuda(0).exist
needs_nvcc = pytest.mark.skipif(find_nvcc() is None, reason="there is no nvcc on the PATH or in CUDA_HOME")
needs_gpu = pytest.mark.skipif(NO_GPU, reason="this machine has no NVIDIA GPU that TVM can use")
needs_gxx = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++ on the PATH")
