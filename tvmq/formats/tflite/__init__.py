"""Integer modules as TFLite flatbuffers of int8."""
