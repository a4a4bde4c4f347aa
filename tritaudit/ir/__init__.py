"""What the compiler made of a kernel: record a launch, compile it for a target, count and mark.

`recorder` and `compile` run in a process that may import triton. `locations`, `marks` and `costs`
read text. `model` and `render` are all that the process of the command line loads.
"""
