"""What exactness is tested on: cases, extremes, dynamic sizes, GPUs, single operators."""
