"""Flows of other quantizers in torch, and their layers one by one."""
