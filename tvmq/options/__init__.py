"""Options of quantization: `qconfig`, each option with its check and help text, and rules for single layers.

An option is a field of `Options`; the command line and the documentation follow from it.
"""
