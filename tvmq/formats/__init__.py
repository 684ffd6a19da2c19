"""Model formats, the importer and the exporter of each beside each other: ONNX, torch, Relax; C, TFLite, TOSA.

`importing/` and `exporting/` have what several formats share. An importer knows no exporter, and the other way round:
they meet in the Relax module.
"""
