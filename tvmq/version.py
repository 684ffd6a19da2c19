"""The version of tvmq: the only place that setup.cfg, the site and the commands read it from.

Tests: tests/test_project_files.py
"""

__version__ = "0.1.0"
