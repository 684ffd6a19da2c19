"""Code generation, from an integer module to machine code: targets, kernels, lowering, schedules, `build`.

`kernels/` has computation and schedule by family, `lower/` chooses among them, `schedule/` treats loops that no kernel
made, `compile/` puts it together; `custom_lowering/` is where users bring kernels of their own.
"""
