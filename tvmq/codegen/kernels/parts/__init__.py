"""Building blocks of kernels: loops, vectors, packed weights, tiles, epilogues."""
