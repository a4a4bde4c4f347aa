"""How long kernels take: against a copy, against torch, and against each other.

`measure` runs in a process that may import triton. `model`, `preset`, `table` and `render` are all
that the process of the command line loads.
"""
