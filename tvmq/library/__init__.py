"""A model as a C library: machine code, constants and a small runtime in one shared object, with a header."""
