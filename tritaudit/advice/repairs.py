"""What repairs a finding: a change of the source where one is known to be right, and words."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass

from tritaudit.advice import patch, values
from tritaudit.advice.patch import Patch
from tritaudit.advice.subject import Subject, moves


@dataclass(frozen=True, slots=True)
class Repair:
    """Words, and the change that they are about if there is one."""

    words: str
    patch: Patch | None = None

    def text(self) -> str:
        """The words, and the changed lines after them, indented by four spaces."""
        if self.patch is None:
            return self.words
        return "\n".join([self.words, *(f"    {row}" for row in self.patch.lines())])


def _of(found: Patch | None, more: str = "") -> Repair | None:
    if found is None:
        return None
    return Repair(f"{found.words} {more}".strip(), found)


def _rank(subject: Subject) -> int:
    excerpt = subject.finding.excerpt
    return len(excerpt.axes) if excerpt is not None else len(subject.finding.example.sizes)


# --------------------------------------------------------------------------- places


def leaked(subject: Subject) -> Repair | None:
    """Padding that comes out, by a flip, by a mask or by a reduction."""
    ways = {text.partition(" ")[0] for text in subject.parameters.values()}
    if "padded" in ways:
        return Repair(
            "Give the masked lanes a value that changes nothing, right before the reduction: "
            "`tl.where(mask, value, 0)` for a sum, `-float('inf')` for a maximum. `other=` at the "
            "load is too early where something is computed in between."
        )
    found = mirrored(subject)
    if found is None and ways & {"headless", "tailless", "nothing"}:
        return Repair(
            "Mask the load with a condition on the index that is loaded, and try both ends in it: "
            "it has to be true for the first index, 0, and for the last, the size minus 1."
        )
    return found


def mirrored(subject: Subject) -> Repair | None:
    """Flips that stay within tiles, padding in the way, nothing reversed: mirror the addresses."""
    kernel = subject.kernel
    returned = patch.returned_output(kernel, subject.inputs)
    if returned is not None:
        return _of(returned)
    found = patch.mirror_in_place_of_flip(kernel) or patch.mirror_the_stored_index(
        kernel, _rank(subject)
    )
    return _of(found, _keeping_flip(subject))


def _keeping_flip(subject: Subject) -> str:
    """How to keep `tl.flip` where one padded tile holds the whole axis."""
    kernel = subject.kernel
    found = [m for m in moves(subject) if m.size]
    if len(kernel.flips) != 1 or len(kernel.stores) != 1 or _rank(subject) != 1:
        return ""
    store = kernel.stores[0]
    indices = kernel.indices(store)
    if len(found) != 1 or len(indices) != 1 or store.offsets != (indices[0].name,):
        return ""
    index = indices[0]
    definition = kernel.definitions.get(index.name)
    match = re.fullmatch(r"tl\.arange\(0, (\w+)\)", kernel.source(definition) if definition else "")
    if match is None:
        return ""
    return (
        f"(To keep `tl.flip`, store to `{index.name} - ({match[1]} - {index.extent})` where that "
        "is not negative.)"
    )


def unwritten(subject: Subject) -> Repair | None:
    """A grid that is rounded down, a mask that is inverted or flipped, exchanged arguments."""
    kernel = subject.kernel
    return (
        exchanged_arguments(subject)
        or _of(patch.right_bound(kernel, patch.SHORT))
        or _of(patch.mirror_in_place_of_flip(kernel))
        or _of(patch.rounded_up_grid(kernel))
    )


def beside(subject: Subject) -> Repair | None:
    """Writes out of bounds: an inverted, flipped or missing mask."""
    kernel = subject.kernel
    found = patch.right_bound(kernel, patch.BEYOND) or patch.mirror_in_place_of_flip(kernel)
    if found is not None:
        return _of(found)
    found = patch.masked_store(kernel)
    if found is not None:
        return _of(found)
    for store in kernel.stores:
        if store.mask == () and len(store.offsets) == 1 and _rank(subject) == 1:
            return Repair(
                "Pass the number of elements to the kernel, `n`, and give the load and the store "
                f"the mask `{store.offsets[0]} < n`."
            )
    return None


def shifted(subject: Subject) -> Repair | None:
    """A mirrored index that is one off."""
    return _of(patch.right_mirror(subject.kernel))


def strides(subject: Subject) -> Repair | None:
    """Strides that a kernel does not take."""
    kernel = subject.kernel
    if "strides" in subject.parameters:
        return Repair("Multiply every index with the stride of its own axis, `x.stride(k)`.")
    name = subject.parameters.get("input", subject.source)
    return _of(patch.contiguous_input(kernel, [name]))


def input_kept(subject: Subject) -> Repair | None:
    """Inputs that are changed, by torch or by a store."""
    if subject.parameters.get("changed by") == "torch":
        return Repair(
            "Work on a copy (`.clone()`), or write into a tensor of its own. If the input is meant "
            'to be overwritten, say so: `Case(in_place="x")`, `--in-place` on the command line.'
        )
    return exchanged_arguments(subject)


def exchanged_arguments(subject: Subject) -> Repair | None:
    """An output that is passed for the pointer of an input, or never used in the kernel."""
    kernel = subject.kernel
    return _of(
        patch.arguments_in_order(kernel, subject.inputs)
        or patch.stored_to_output(kernel, subject.inputs)
    )


def own_dtype(subject: Subject) -> Repair | None:
    """An output that is allocated without a dtype."""
    evidence = " ".join(subject.finding.evidence)
    if not evidence.endswith(f"not {subject.finding.dtype}"):
        return None
    return _of(patch.allocated_like(subject.kernel, subject.inputs))


# --------------------------------------------------------------------------- values


def absolute(subject: Subject) -> Repair | None:
    """A selection or a branch that should be `tl.abs`."""
    kernel = subject.kernel
    return _of(
        values.abs_for_selection(kernel)
        or values.abs_for_branch(kernel)
        or patch.returned_output(kernel, subject.inputs)
    )


def widened(subject: Subject) -> Repair | None:
    """abs of the minimum: widen before, into an output that has room."""
    kernel, excerpt = subject.kernel, subject.finding.excerpt
    if excerpt is None or not re.fullmatch(r"int\d+", excerpt.in_dtype):
        return None
    if values.wider(excerpt.out_dtype, excerpt.in_dtype):
        return _of(values.widened_before_abs(kernel))
    bits = int(excerpt.in_dtype.removeprefix("int"))
    decide = (
        f"decide what abs({-(1 << (bits - 1))}) shall be: the maximum (as `abs/saturating` does, "
        'contract `Abs(overflow="saturate")`), or itself (`Abs(overflow="wrap")`, as torch); on '
        "the command line `--abs-overflow saturate` or `--abs-overflow wrap`."
    )
    if bits == 64:
        return Repair(f"No integer type is wider than int64, so {decide}")
    wide = f"int{2 * bits}"
    calls = kernel.calls("abs")
    names = [ast.unparse(a) for c in calls for a in c.args if isinstance(a, ast.Name)]
    how = f"`tl.abs({names[0]}.to(tl.{wide}))`" if len(names) == 1 else f"with `.to(tl.{wide})`"
    return Repair(
        f"{excerpt.out_dtype} has no room for the answer. Widen before abs, {how} for "
        f"{excerpt.in_dtype}, and give the output that type, too. If the type has to stay, {decide}"
    )


def widened_operands(subject: Subject) -> Repair | None:
    """Arithmetic that wraps before it is stored into an output with room."""
    kernel, excerpt = subject.kernel, subject.finding.excerpt
    if excerpt is None or not {"arithmetic in", "difference in"} & set(subject.parameters):
        return None
    if not values.wider(excerpt.out_dtype, excerpt.in_dtype):
        return None
    return _of(values.widened_loads(kernel))


def precise(subject: Subject) -> Repair | None:
    """A cast to a type that does not hold all values."""
    kernel, excerpt = subject.kernel, subject.finding.excerpt
    narrow = subject.parameters.get("through") or subject.parameters.get("abs in")
    if excerpt is None or narrow is None:
        return None
    if not values.wider(excerpt.out_dtype, excerpt.in_dtype):
        return None
    return _of(values.cast_to_output(kernel, narrow))


def returned(subject: Subject) -> Repair | None:
    """A launch function that returns nothing."""
    if not any(told.endswith("returned None, not a tensor") for told in subject.finding.evidence):
        return None
    return Repair(
        "Return the output. If the function is meant to change its input and to return nothing, "
        f'say so: `Case(in_place="{subject.source}")`, `--in-place` on the command line.'
    )


def unsigned(subject: Subject) -> Repair | None:
    """Unsigned tensors that are passed as signed views."""
    return _of(patch.in_its_own_dtype(subject.kernel))


def accepted(subject: Subject) -> Repair | None:
    """Calls that some Triton refuses."""
    kernel, evidence = subject.kernel, " ".join(subject.finding.evidence)
    found = values.flip_with_dim(kernel) or values.flips_of_one_axis(kernel)
    if found is not None:
        return _of(found)
    if "numel" in evidence and kernel.flips:
        return Repair(
            "Give the tile at least two elements along the flipped axis (`max(2, …)`) and mask the "
            "second, or mirror the addresses without `tl.flip`."
        )
    if "arange" in evidence and "power of 2" in evidence:
        return Repair("Take the next power of two for the tile and mask what lies beyond the data.")
    if not evidence:
        return None
    return Repair(
        "What Triton says above is what it wants changed. `tritaudit explain api-rejects` lists "
        "what versions of it refuse of `tl.flip`."
    )


def nothing(subject: Subject) -> Repair | None:
    """What repairs this cannot be told from the source."""
    del subject
    return None


REPAIRS: dict[str, Callable[[Subject], Repair | None]] = {
    "crash": returned,
    "timeout": nothing,
    "api-rejects": accepted,
    "wrong-shape": nothing,
    "wrong-dtype": own_dtype,
    "nondeterministic": nothing,
    "out-of-bounds-write": beside,
    "out-of-bounds-read": shifted,
    "unwritten-output": unwritten,
    "input-mutated": input_kept,
    "not-reversed": mirrored,
    "wrong-axis": nothing,
    "stride-ignored": strides,
    "block-local-flip": mirrored,
    "tile-order-only": mirrored,
    "padding-leak": leaked,
    "alias-race": nothing,
    "off-by-one": shifted,
    "signed-zero-kept": absolute,
    "signed-zero-lost": nothing,
    "nan-contamination": nothing,
    "nan-lost": absolute,
    "int-abs-overflow": widened,
    "unsigned-as-signed": unsigned,
    "sign-kept": absolute,
    "int-overflow": widened_operands,
    "precision-loss": precise,
    "backend-divergence": nothing,
    "value-mismatch": nothing,
}
