"""Integer modules as TOSA."""
