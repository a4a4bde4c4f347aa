"""Whether an installation can run kernels, and what its Triton does with them.

`facts` runs in a Python of its own, as a user's script would; `trial` in a worker. `checks` turns
facts into problems with remedies, without looking at anything itself.
"""
