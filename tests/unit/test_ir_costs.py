"""Counting what a kernel costs."""

from __future__ import annotations

from tritaudit.ir.costs import amd_costs, nvidia_costs
from tritaudit.ir.locations import read
from tritaudit.ir.model import Costs

PTX = """\
.extern .shared .align 16 .b8 global_smem[];
\t// shfl.sync in a comment is none
\tshfl.sync.bfly.b32 \t%r2, %r1, 1, 31, -1;
\t@%p1 st.shared.b32 [ %r1 + 0 ], %r2;
\tst.shared.v2.b32 [ %r1 + 0 ], {%r2, %r3};
\tbar.sync \t0;
\tbarrier.cta.sync 0;
\tbar.warp.sync \t-1;
\tld.shared.b32 \t%r3, [%r2];
\tldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1}, [%r2];
\tld.global.b32 \t%r3, [%rd2];
\tret;
"""
SASS = """\
        /*0000*/                   STS [R11], R2 ;
        /*0010*/                   EXIT ;
        /*0020*/                   NOP;
"""
USAGE = """\
Resource usage:
 Function k:
  REG:18 STACK:24 SHARED:1024 LOCAL:0 CONSTANT[0]:568 TEXTURE:0
"""
AMDGCN = """\
\tds_bpermute_b32 v1, v2, v3
\tds_swizzle_b32 v1, v2 offset:swizzle(SWAP,1)
\tv_mov_b32_dpp v1, v2 quad_perm:[1,0,3,2]
\tds_write_b32 v1, v2
\tds_read_b32 v1, v2
\ts_barrier
\ts_nop 0
\t.amdgpu_metadata
    .vgpr_count:     14
    .vgpr_spill_count: 3
"""


def test_an_nvidia_kernel_is_counted_in_ptx_sass_and_its_binary() -> None:
    costs = nvidia_costs(read("ptx", PTX), read("sass", SASS), USAGE, 512)
    assert costs == Costs(
        shuffles=1,
        barriers=2,
        shared_loads=2,
        shared_stores=2,
        shared_bytes=512,
        registers=18,
        spills=6,
        instructions=2,
    )


def test_without_tools_registers_are_unknown_and_ptx_is_counted() -> None:
    costs = nvidia_costs(read("ptx", PTX), [], "", 0)
    assert (costs.registers, costs.spills, costs.instructions) == (None, None, 10)


def test_an_amd_kernel_is_counted_in_its_assembly() -> None:
    costs = amd_costs(read("amdgcn", AMDGCN), AMDGCN, 0)
    assert costs == Costs(
        shuffles=3,
        barriers=1,
        shared_loads=1,
        shared_stores=1,
        shared_bytes=0,
        registers=14,
        spills=3,
        instructions=6,
    )
