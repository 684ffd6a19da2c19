"""Tools for people: the command line, and the reports, pictures and diagnoses behind its commands.

`analysis/` explains and verifies, `doctor/` diagnoses, `drawing/` and `report/` show, `cli/` has one file a command.
"""
