"""What kernels are written with: loops, vectors, packed weights, tiles, epilogues."""
