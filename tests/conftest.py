"""The interpreter for every test that runs kernels itself, whichever module is imported first.

Triton reads the variable when it is imported, and its own functions (`tl.flip`) are made then.
Tests of the command and of the GPU start processes, and leave the variable out of those.
"""

from __future__ import annotations

import os

os.environ["TRITON_INTERPRET"] = "1"
