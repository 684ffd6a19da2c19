"""From a Relax module of kernels and loops to machine code: `tvmq.build` and the steps behind it."""
