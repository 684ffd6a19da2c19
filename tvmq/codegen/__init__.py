"""From a module to running code: layouts, fusion, choice of kernels, compilation, execution, saved files."""
