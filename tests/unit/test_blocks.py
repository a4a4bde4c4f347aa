"""Which blocks are seen when a kernel chooses them itself."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

from tritaudit import Case, Flip, Tensor, Tile
from tritaudit.backend import launch
from tritaudit.blocks import edges_of_kernels, with_edges
from tritaudit.generate import structures


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, FLAG: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=offs < n), mask=offs < n)


def copied(block: int) -> Case:
    """A copy in blocks of `block`; 0: of the next power of two, at most 256."""

    def run(x: torch.Tensor) -> torch.Tensor:
        out, n = torch.empty_like(x), x.numel()
        size = block or min(256, triton.next_power_of_2(n))
        copy_kernel[(triton.cdiv(n, size),)](x, out, n, BLOCK=size, FLAG=3)
        return out

    return Case(run=run, contract=Flip("N"), inputs=Tensor("x", "N"))


@pytest.mark.parametrize(("block", "edges"), [(64, (64,)), (1024, (1024,)), (0, (256,))])
def test_a_block_that_does_not_grow_with_the_input_is_an_edge(
    block: int, edges: tuple[int, ...]
) -> None:
    case = copied(block)
    assert edges_of_kernels(case, lambda example: launch(case, example)) == edges


def test_sizes_around_an_edge_are_tried() -> None:
    case = with_edges(copied(64), lambda example: launch(copied(64), example))
    sizes = {example.size("N") for example in structures(case)}
    assert {63, 64, 65, 127, 128, 129} <= sizes


def test_a_case_that_names_its_tiles_or_edges_is_left_as_it_is() -> None:
    def run(x: torch.Tensor, *, BLOCK: int) -> torch.Tensor:
        raise AssertionError

    def refuse(example: object) -> None:
        raise AssertionError

    tiled = Case(run=run, contract=Flip("N"), inputs=Tensor("x", "N"), tiles=Tile("BLOCK", "N", 16))
    edged = Case(
        run=lambda x: x, contract=Flip("N"), inputs=Tensor("x", "N"), edges={"N": (100, 7)}
    )
    assert with_edges(tiled, refuse) is tiled
    assert with_edges(edged, refuse) is edged
    assert edged.edges_of("N") == (7, 100)
