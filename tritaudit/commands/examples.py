"""What `--help` shows below the options of a command: examples that can be pasted."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["EXAMPLES", "epilog"]

_EXITS = (
    "0 nothing unexpected, 1 findings, 2 wrong usage, 3 unable to work, 130 interrupted (Ctrl-C), "
    "143 terminated"
)

#: by command: (what it is for, the line to paste).
EXAMPLES: Mapping[str, tuple[tuple[str, str], ...]] = MappingProxyType(
    {
        "run": (
            ("Audit the whole catalogue, or a part of it", "tritaudit run 'flip/*' abs/vector_int"),
            ("Audit your own case files", "tritaudit run kernels/"),
            (
                "Audit a function by its promise",
                "tritaudit run mypkg.ops:reverse_rows --flip 1",
            ),
            ("Before a commit, and until the first failure", "tritaudit run --profile quick -x"),
            ("What failed when it ran last", "tritaudit run --last-failed"),
            (
                "In CI: reports for other tools, and fail only for what is new",
                "tritaudit run --report junit=report.xml --report sarif=report.sarif"
                " --baseline baseline.json",
            ),
            ("The second of four machines", "tritaudit run --shard 2/4 --report json=2.json"),
        ),
        "explain": (
            ("The last failure", "tritaudit explain"),
            ("What is wrong with a case", "tritaudit explain flip/rows_padded"),
            (
                "One example, as a failing run prints it",
                "tritaudit explain flip/single_tile --repro"
                " v1/interpreter/N=5/BLOCK=8/-/x:float32/-/index",
            ),
            ("What a fault means", "tritaudit explain padding-leak"),
            ("All that is news in a report", "tritaudit explain report.json --html report.html"),
        ),
        "list": (
            ("Cases, what they promise, what they are known to show", "tritaudit list 'flip/*'"),
            ("The faults that can be named", "tritaudit list --faults"),
        ),
        "compare": (
            ("Before against after", "tritaudit compare before.json after.json"),
            (
                "Three versions of Triton, for a comment",
                "tritaudit compare 3.2.json 3.6.json 3.9.json --markdown",
            ),
        ),
        "merge": (
            (
                "The shards of a run",
                "tritaudit merge 1.json 2.json 3.json --report json=all.json",
            ),
        ),
        "schema": (("Validate reports with it", "tritaudit schema > tritaudit.schema.json"),),
        "new": (
            (
                "A case file for a function",
                "tritaudit new mypkg.ops:reverse_rows --flip 1",
            ),
        ),
        "selftest": (
            ("Some of it, in a minute", "tritaudit selftest --quick"),
            (
                "All of it, to be taken up again where it was stopped",
                "tritaudit selftest --resume measured.jsonl",
            ),
        ),
        "bench": (
            ("What is claimed of tl.flip and tl.abs, on this GPU", "tritaudit bench"),
            (
                "One kernel and its twins, at a size",
                "tritaudit bench flip/rows_remap --size W=4096",
            ),
        ),
        "matrix": (
            (
                "Which Triton does what with tl.flip and tl.abs",
                "tritaudit matrix --triton 3.2.0,3.4.0,3.6.0,3.9.0 semantics",
            ),
            (
                "Your own kernels, before an upgrade",
                "tritaudit matrix --triton 3.6.0,3.9.0 kernels/ --markdown matrix.md",
            ),
        ),
        "doctor": (("Whether this machine can run kernels, and how", "tritaudit doctor"),),
        "ir": (
            (
                "What tl.flip costs against reversed addresses",
                "tritaudit ir flip/address_remap --compare flip/mirrored_tiles",
            ),
        ),
    }
)


def epilog(command: str) -> str:
    """Examples and exit codes of a command. `\\b` keeps Click from filling the lines."""
    blocks = [f"\b\n{what}:\n  {line}" for what, line in EXAMPLES.get(command, ())]
    return "\n\n".join(["Examples:", *blocks, f"Exit codes: {_EXITS}."])
