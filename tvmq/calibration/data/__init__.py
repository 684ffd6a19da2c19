"""Calibration data as people have them: folders of pictures, functions, arrays; made ready for a model's inputs."""
