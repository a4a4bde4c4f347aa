"""Pure renderers: a Report or a Finding goes in, text or a rich renderable comes out.

Nothing in this package runs a kernel, imports torch or triton, changes what it is given, or prints
except through a Console that it is handed.
"""
