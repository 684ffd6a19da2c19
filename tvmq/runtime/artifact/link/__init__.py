"""Object files of kernels to one shared library, without a linker of the system."""
