"""Mistakes in the arithmetic: abs, signs, NaN, widths, conversions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritaudit.selftest.operators.registry import Plant, operator, plant, same
from tritaudit.selftest.source import CaseSource, NoMatch

#: floats with which every backend computes: the interpreter holds bfloat16 as raw bits.
FLOATS = ("float16", "float32", "float64")


def _abs(source: CaseSource) -> tuple[ast.Call, str]:
    call = source.call("tl.abs")
    return call, ast.unparse(call.args[0])


def _instead_of_abs(source: CaseSource, text: str) -> CaseSource:
    """Another expression of `{v}` in place of tl.abs."""
    call, value = _abs(source)
    return source.put((call, text.format(v=f"({value})")))


# --------------------------------------------------------------------------- abs


@operator(
    "abs-dropped",
    "abs/vector",
    "abs/in_place",
    "abs/fp8",
    "abs/widened",
    "abs/difference",
    "abs/difference_widened",
    "abs/threshold",
    "semantics/abs_float_bits",
    "semantics/abs_minimum_wraps",
    "loss/l1",
)
def abs_dropped(source: CaseSource) -> Iterator[Plant]:
    """tl.abs is left out."""
    yield plant(_instead_of_abs(source, "{v}"), "sign-kept")


@operator("abs-dropped-unsigned", "abs/unsigned", "abs/boolean")
def abs_dropped_unsigned(source: CaseSource) -> Iterator[Plant]:
    """tl.abs is left out where no value has a sign."""
    yield same(_instead_of_abs(source, "{v}"), "the absolute value of an unsigned value is itself")


@operator("abs-negated", "abs/vector", "abs/widened")
def abs_negated(source: CaseSource) -> Iterator[Plant]:
    """The absolute value is negated."""
    mutant = _instead_of_abs(source, "-tl.abs{v}")
    yield plant(_computable(mutant), "sign-kept")


@operator("value-negated", "abs/vector", "abs/widened")
def value_negated(source: CaseSource) -> Iterator[Plant]:
    """The value is negated, whatever its sign."""
    yield plant(_computable(_instead_of_abs(source, "-{v}")), "sign-kept")


def _computable(source: CaseSource) -> CaseSource:
    """Without the floats that the interpreter holds as raw bits."""
    floats = "FLOATS" in source.text
    return source.dtypes(*FLOATS) if floats else source


@operator("where-below-zero", "abs/vector", "abs/difference", "semantics/abs_float_bits")
def where_below_zero(source: CaseSource) -> Iterator[Plant]:
    """What is less than zero is negated, in place of tl.abs."""
    mutant = _instead_of_abs(source, "tl.where({v} < 0, -{v}, {v})")
    yield plant(_computable(mutant), "signed-zero-kept")


@operator("where-from-zero", "abs/vector", "abs/difference", "semantics/abs_float_bits")
def where_from_zero(source: CaseSource) -> Iterator[Plant]:
    """What is at least zero is kept and the rest negated, in place of tl.abs."""
    mutant = _instead_of_abs(source, "tl.where({v} >= 0, {v}, -{v})")
    yield plant(_computable(mutant), "signed-zero-kept")


@operator("where-below-zero-integers", "abs/widened", "semantics/abs_minimum_wraps")
def where_below_zero_integers(source: CaseSource) -> Iterator[Plant]:
    """What is less than zero is negated, in place of tl.abs, in integers."""
    mutant = _instead_of_abs(source, "tl.where({v} < 0, -{v}, {v})")
    yield same(mutant, "integers have one zero, and the minimum stays the minimum either way")


@operator("maximum-of-both-signs", "abs/widened", "semantics/abs_minimum_wraps")
def maximum_of_both_signs(source: CaseSource) -> Iterator[Plant]:
    """The larger of x and -x is taken, in place of tl.abs, in integers."""
    mutant = _instead_of_abs(source, "tl.maximum({v}, -{v})")
    yield same(mutant, "it is the same number, the minimum included")


@operator("two-relus", "abs/vector", "abs/difference", "semantics/abs_float_bits")
def two_relus(source: CaseSource) -> Iterator[Plant]:
    """relu(x) + relu(-x) is taken, in place of tl.abs: both halves are 0 for a NaN."""
    text = "(tl.where({v} > 0, {v}, 0.0) + tl.where({v} < 0, -{v}, 0.0))"
    yield plant(_computable(_instead_of_abs(source, text)), "nan-lost")


@operator("nan-cleared", "abs/vector", "flip/address_remap", "flip/mirrored_tiles")
def nan_cleared(source: CaseSource) -> Iterator[Plant]:
    """A NaN is replaced by 0."""
    mutant = _stored(source, "tl.where(({v}) == ({v}), {v}, 0.0)").dtypes(*FLOATS)
    yield plant(mutant, "nan-lost")


@operator("nan-to-infinity", "abs/vector", "flip/rows_remap")
def nan_to_infinity(source: CaseSource) -> Iterator[Plant]:
    """A NaN is replaced by infinity."""
    text = "tl.where(({v}) == ({v}), {v}, float('inf'))"
    yield plant(_stored(source, text).dtypes(*FLOATS), "nan-lost")


def _stored(source: CaseSource, text: str) -> CaseSource:
    """Another value is stored: an expression of the right one, `{v}`."""
    value = source.call("tl.store").args[1]
    return source.put((value, text.format(v=ast.unparse(value))))


# --------------------------------------------------------------------------- integers


@operator("widened-after-abs", "abs/widened")
def widened_after_abs(source: CaseSource) -> Iterator[Plant]:
    """The conversion to the wider type comes after tl.abs."""
    call, _ = _abs(source)
    mutant = source.put((call, "tl.abs(x).to(out_ptr.dtype.element_ty)"))
    yield plant(mutant, "int-abs-overflow")


@operator("narrow-output", "abs/widened")
def narrow_output(source: CaseSource) -> Iterator[Plant]:
    """The output has the type of the input."""
    yield plant(source.options(out_dtype=None), "int-abs-overflow")


@operator("wrapping-contract", "semantics/abs_minimum_wraps", "abs/saturating")
def wrapping_contract(source: CaseSource) -> Iterator[Plant]:
    """The contract asks for the mathematical value, which the type of the output cannot hold."""
    yield plant(source.options(contract="Abs()"), "int-abs-overflow")


@operator("saturation-dropped", "abs/saturating")
def saturation_dropped(source: CaseSource) -> Iterator[Plant]:
    """The minimum is not raised before tl.abs."""
    yield plant(source.put((source.call("tl.maximum"), "x")), "int-abs-overflow")


@operator("difference-not-widened", "abs/difference_widened")
def difference_not_widened(source: CaseSource) -> Iterator[Plant]:
    """The difference is taken in the narrow type."""
    x = source.assigned("x")
    mutant = source.put((x, ast.unparse(x).removesuffix(".to(out_ptr.dtype.element_ty)")))
    y = mutant.assigned("y")
    mutant = mutant.put((y, ast.unparse(y).removesuffix(".to(out_ptr.dtype.element_ty)")))
    yield plant(mutant, "int-overflow", label="at-all")
    mutant = mutant.swap("x - y", "(x - y).to(out_ptr.dtype.element_ty)")
    yield plant(mutant, "int-overflow", label="before-abs")


@operator("difference-half-widened", "abs/difference_widened")
def difference_half_widened(source: CaseSource) -> Iterator[Plant]:
    """Only one side of the difference is widened."""
    y = source.assigned("y")
    mutant = source.put((y, ast.unparse(y).removesuffix(".to(out_ptr.dtype.element_ty)")))
    yield same(mutant, "Triton widens the other side to the type of the first")


@operator("narrow-difference-output", "abs/difference_widened")
def narrow_difference_output(source: CaseSource) -> Iterator[Plant]:
    """The difference is wide and the output is not."""
    yield plant(source.options(out_dtype=None), "int-overflow")


@operator("sum-in-32-bits", "flip/row_sum_flipped", "semantics/masked_load_without_other")
def sum_in_32_bits(source: CaseSource) -> Iterator[Plant]:
    """The sum is taken in 32 bits."""
    yield plant(source.swap("tl.int64", "tl.int32"), "int-overflow")


@operator("sum-in-8-bits", "flip/row_sum_flipped", "semantics/masked_load_without_other")
def sum_in_8_bits(source: CaseSource) -> Iterator[Plant]:
    """The sum of int8 values is cut to 8 bits."""
    total = source.call("tl.sum")
    mutant = source.put((total, f"{ast.unparse(total)}.to(tl.int8)"))
    yield plant(mutant.dtypes("int8"), "int-overflow")


@operator("signed-view", "abs/unsigned")
def signed_view(source: CaseSource) -> Iterator[Plant]:
    """The kernel gets a signed view of unsigned values."""
    views = "getattr(torch, str({0}.dtype).replace('torch.u', ''))"
    call = source.launch
    text = ast.unparse(call)
    for name in ("x", "out"):
        text = text.replace(f"{name}, ", f"{name}.view({views.format(name)}), ", 1)
    yield plant(source.put((call, text)), "unsigned-as-signed")


@operator("unsigned-through-int64", "abs/unsigned")
def unsigned_through_int64(source: CaseSource) -> Iterator[Plant]:
    """Unsigned values are converted to int64 first, which is too narrow for uint64."""
    yield plant(_instead_of_abs(source, "tl.abs({v}.to(tl.int64))"), "unsigned-as-signed")


# --------------------------------------------------------------------------- conversions


def _loaded(source: CaseSource, conversion: str) -> CaseSource:
    """What is loaded passes through another type at once."""
    changes = [(c, f"{ast.unparse(c)}.to({conversion})") for c in source.calls("tl.load")]
    if not changes:
        raise NoMatch(source.name)
    return source.put(*changes)


@operator("through-float32", "abs/vector", "flip/address_remap", "flip/mirrored_tiles")
def through_float32(source: CaseSource) -> Iterator[Plant]:
    """Values pass through float32."""
    yield plant(_loaded(source, "tl.float32").dtypes(*FLOATS), "precision-loss")


@operator("through-float16", "abs/vector", "flip/rows_remap", "loss/l1", "abs/difference")
def through_float16(source: CaseSource) -> Iterator[Plant]:
    """Values pass through float16."""
    yield plant(_loaded(source, "tl.float16").dtypes("float16", "float32"), "precision-loss")


@operator("integers-through-float32", "flip/address_remap", "abs/widened", "flip/rows_remap")
def integers_through_float32(source: CaseSource) -> Iterator[Plant]:
    """Integers pass through float32."""
    mutant = _loaded(source, "tl.float32")
    if source.contract == "Flip":
        mutant = mutant.dtypes("int8", "int32", "uint32")
    yield plant(mutant, "precision-loss")


@operator("through-int8", "abs/widened", "flip/address_remap", "flip/mirrored_tiles")
def through_int8(source: CaseSource) -> Iterator[Plant]:
    """Integers pass through int8."""
    mutant = _loaded(source, "tl.int8")
    if source.contract == "Flip":
        mutant = mutant.dtypes("int8", "int16", "int64")
    yield plant(mutant, "precision-loss")


@operator("squared-in-float16", "loss/huber")
def loss_in_float16(source: CaseSource) -> Iterator[Plant]:
    """The loss is computed from float16 values."""
    mutant = source.edited(lambda text: text.replace("tl.float32", "tl.float16"))
    yield plant(mutant.dtypes("float32"), "precision-loss")


@operator("zero-added", "flip/address_remap", "flip/rows_remap", "flip/kv_cache_remap")
def zero_added(source: CaseSource) -> Iterator[Plant]:
    """A bias of 0.0 is added to what only moves: -0.0 becomes +0.0."""
    yield plant(_stored(source, "{v} + 0.0").dtypes(*FLOATS), "signed-zero-lost")


@operator("one-hot-flip", "flip/mirrored_tiles", "flip/single_tile_shifted")
def one_hot_flip(source: CaseSource) -> Iterator[Plant]:
    """A tile is flipped by a product with an exchange matrix and a sum."""
    flip = source.call("tl.flip")
    lanes = "tl.arange(0, BLOCK)"
    matrix = f"({lanes}[:, None] + {lanes}[None, :] == BLOCK - 1).to(x.dtype)"
    mutant = source.put((flip, f"tl.sum(x[None, :] * {matrix}, axis=1)"))
    mutant = mutant.dtypes(*FLOATS)
    if "sizes=(4, 16, 128)" in mutant.text:
        # A matrix of 128 by 128 tells nothing more and takes long in the interpreter.
        mutant = mutant.edited(lambda text: text.replace("sizes=(4, 16, 128)", "sizes=(4, 16)"))
    yield plant(mutant, "nan-contamination", "signed-zero-lost")


# --------------------------------------------------------------------------- unforeseen


@operator("sorted", "flip/mirrored_tiles")
def sorted_tiles(source: CaseSource) -> Iterator[Plant]:
    """Tiles are sorted in place of flipped."""
    flip = source.call("tl.flip")
    mutant = source.put((flip, f"tl.sort({ast.unparse(flip.args[0])})"))
    yield plant(mutant.dtypes("int32", "float32"), "value-mismatch")


@operator("sum-for-difference", "loss/l1", "abs/difference")
def sum_for_difference(source: CaseSource) -> Iterator[Plant]:
    """The values are added in place of subtracted."""
    yield plant(_computable(source.swap("x - y", "x + y")), "value-mismatch")


@operator("wrong-formula", "loss/huber", "abs/threshold", "abs/offset_distance", "abs/saturating")
def wrong_formula(source: CaseSource) -> Iterator[Plant]:
    """The formula is another one than the contract asks for."""
    changes = {
        "loss/huber": ("0.5 * d * d", "d * d", "no-half"),
        "abs/threshold": ("tl.abs(x) > t", "tl.abs(x) < t", "inverted"),
        "abs/offset_distance": ("offs - target", "offs + target", "sum"),
        "abs/saturating": ("-HIGHEST", "-HIGHEST + 1", "one-less"),
    }
    old, new, label = changes[source.name]
    yield plant(source.swap(old, new), "value-mismatch", label=label)


@operator("edge-of-a-formula", "loss/huber")
def edge_of_a_formula(source: CaseSource) -> Iterator[Plant]:
    """The two parts of the Huber loss meet at < in place of <=."""
    mutant = source.swap("d <= delta", "d < delta")
    yield same(mutant, "where they meet, both parts have the same value")


@operator("strict-window", "abs/offset_distance")
def strict_window(source: CaseSource) -> Iterator[Plant]:
    """The window ends before its radius."""
    call, value = _abs(source)
    mutant = source.swap("tl.abs(offs - target) <= radius", "tl.abs(offs - target) < radius")
    del call, value
    yield plant(mutant, "value-mismatch")


@operator("abs-dropped-in-a-condition", "abs/offset_distance")
def abs_dropped_in_a_condition(source: CaseSource) -> Iterator[Plant]:
    """tl.abs is left out of what decides which values are kept."""
    yield plant(_instead_of_abs(source, "{v}"), "sign-kept")


@operator("factor-not-absolute", "semantics/abs_scalar")
def factor_not_absolute(source: CaseSource) -> Iterator[Plant]:
    """The factor of a product is taken without tl.abs."""
    yield plant(_instead_of_abs(source, "{v}"), "value-mismatch")
