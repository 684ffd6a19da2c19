"""The command line: one file a command, `main.py` puts them together.

A command reads its arguments, calls public functions of tvmq and prints. It decides nothing itself. Its parameters are
its arguments (before `*`) and options (after it), and its docstring has their help: see command_line.py.
"""
