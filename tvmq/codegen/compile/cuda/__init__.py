"""CUDA C++ of a module, and its compilers."""
