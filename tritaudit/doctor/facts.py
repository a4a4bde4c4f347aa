"""What a fresh Python finds: run as a file, in the environment of the user, with no other import.

It prints one line of JSON. Modules are imported here and not by the command, because one that is
broken, or slow, or prints something, must not take the command with it.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import platform
import sys
import warnings
from typing import Any

__all__ = ["MODULES", "collect"]

#: what kernels need, in the order of their import.
MODULES = ("numpy", "torch", "triton", "hypothesis")
#: distributions that bring the module triton.
_DISTRIBUTIONS = ("triton", "triton-windows", "pytorch-triton", "pytorch-triton-rocm")


def collect() -> dict[str, Any]:
    """Versions, devices, and in what state Triton is imported."""
    early = [name for name in MODULES if name in sys.modules]
    found: dict[str, Any] = {
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": platform.platform(),
        "early": early,
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found["modules"] = {name: _module(name) for name in MODULES}
        found["gpus"], found["torch_build"] = _devices()
    found["warnings"] = [str(w.message) for w in caught if issubclass(w.category, UserWarning)]
    found["interpret"] = os.environ.get("TRITON_INTERPRET", "")
    found["interpreted"] = _interpreted()
    found["requires"] = _requirements()
    return found


def _module(name: str) -> dict[str, str]:
    try:
        module = importlib.import_module(name)
        importlib.import_module(f"{name}.language" if name == "triton" else name)
    except Exception as error:  # a broken module raises what it likes
        installed = "" if isinstance(error, ModuleNotFoundError) and error.name == name else "yes"
        return {"error": f"{type(error).__name__}: {error}", "installed": installed}
    version = str(getattr(module, "__version__", "")) or "unknown"
    return {"version": version, "file": str(getattr(module, "__file__", ""))}


def _devices() -> tuple[list[str], str]:
    """The GPUs that torch sees, and for what it was built ("cuda 12.8", "hip 6.3", "cpu")."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "cuda"):
        return [], ""
    version = torch.version
    build = "cpu"
    for kind in ("cuda", "hip", "xpu"):
        if getattr(version, kind, None):
            build = f"{kind} {getattr(version, kind)}"
    try:
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        return [str(torch.cuda.get_device_name(n)) for n in range(count)], build
    except Exception as error:
        warnings.warn(f"torch cannot ask the GPU: {error}", stacklevel=1)
        return [], build


def _interpreted() -> bool | None:
    """Whether Triton's own functions are interpreted: decided when it was imported."""
    library = sys.modules.get("triton.language.standard")
    kinds = {type(value).__name__ for value in vars(library).values()} if library else set()
    if "InterpretedFunction" in kinds:
        return True
    return False if "JITFunction" in kinds else None


def _requirements() -> list[str]:
    """What torch says that it needs of Triton, as it writes it."""
    try:
        listed = importlib.metadata.requires("torch") or []
    except importlib.metadata.PackageNotFoundError:
        return []
    return [text for text in listed if text.lower().startswith(_DISTRIBUTIONS)]


if __name__ == "__main__":
    told = collect()
    sys.stdout.flush()
    sys.stdout.write(f"\n{json.dumps(told)}\n")
