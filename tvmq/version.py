"""The version of tvmq; setup.cfg holds the same.

Tests: tests/test_project_files.py
"""

__version__ = "0.1.0.dev0"
