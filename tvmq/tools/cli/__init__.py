"""The command line: one file a command, `main.py` puts them together.

A command reads its arguments, calls public functions of tvmq and prints. It decides nothing itself.
"""
