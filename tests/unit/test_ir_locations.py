"""From the text of a stage to its lines and the places that they stem from."""

from __future__ import annotations

import pytest

from tritaudit.ir.locations import Place, Row, read

CASE, LIBRARY = "/repo/case.py", "/lib/triton/language/standard.py"

MLIR = f"""\
#loc = loc("{CASE}":19:1)
#loc2 = loc(unknown)
#loc12 = loc("{CASE}":25:29)
#loc38 = loc(callsite(#loc33 at #loc12))
module {{
  tt.func public @k(%x: !tt.ptr<f32> loc("x"(#loc))) attributes {{noinline = false}} {{
    %0 = tt.load %x : tensor<8xf32> loc(#loc9)
    %y_30 = "tt.reduce"(%0) <{{axis = 5 : i32}}> ({{
    ^bb0(%y_40: i32 loc(callsite(#loc2 at #loc38)), %y_41: i32 loc(callsite(#loc2 at #loc38))):
      %y_42 = arith.xori %y_40, %y_41 : i32 loc(#loc44)
      tt.reduce.return %y_42 : i32 loc(#loc41)
    }}) : (tensor<2x2xi32>) -> tensor<2xi32> loc(#loc41)
    tt.store %x, %0 : tensor<8x!tt.ptr<f32>> loc(fused<"a">[#loc20, "{CASE}":9:2 to :7])
    tt.return loc(#loc)
  }} loc(#loc)
}} loc(#loc)
#loc9 = loc("{CASE}":23:9)
#loc14 = loc("{LIBRARY}":330:12)
#loc13 = loc("{LIBRARY}":559:17)
#loc33 = loc("y"(#loc13))
#loc16 = loc("{LIBRARY}":319:12)
#loc20 = loc("{CASE}":25:5)
#loc41 = loc(callsite(#loc14 at #loc38))
#loc44 = loc(callsite(#loc16 at #loc41))
"""

LLVM = """\
define ptx_kernel void @k(ptr addrspace(1) %0) local_unnamed_addr !dbg !4 {
  %29 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %2, i32 1, i32 31), !dbg !25
  %30 = xor i32 %29, %2, !dbg !12
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %30), !dbg !12
  ret void, !dbg !30
}
!llvm.dbg.cu = !{!0}
!1 = !DIFile(filename: "case.py", directory: "/repo")
!4 = distinct !DISubprogram(name: "k", linkageName: "k", scope: !1, file: !1, line: 19)
!12 = !DILocation(line: 25, column: 5, scope: !4)
!21 = distinct !DILexicalBlockFile(scope: !4, file: !22, discriminator: 0)
!22 = !DIFile(filename: "standard.py", directory: "/lib/triton/language")
!23 = !DILocation(line: 25, column: 29, scope: !24)
!24 = distinct !DILexicalBlockFile(scope: !4, file: !1, discriminator: 0)
!25 = !DILocation(line: 330, column: 12, scope: !31, inlinedAt: !26)
!26 = !DILocation(line: 559, column: 17, scope: !21, inlinedAt: !23)
!30 = !DILocation(line: 19, column: 1, scope: !4)
!31 = distinct !DILexicalBlock(scope: !21, line: 1)
"""

PTX_OLD = f"""\
.visible .entry k(
\t.param .u64 k_param_0
)
{{
\t.loc\t1 23 16                         // case.py:23:16
\t// begin inline asm
\t@%p1 ld.global.b32 {{ %r1 }}, [ %rd1 + 0 ];
\t// end inline asm
\t.loc\t2 330 12                        // standard.py:330:12
\tshfl.sync.bfly.b32 \t%r2, %r1, 1, 31, -1;
$L__BB0_2:
\t.loc\t1 25 4                          // case.py:25:4
\tret;
}}
\t.file\t1 "{CASE}"
\t.file\t2 "{LIBRARY}"
\t.section\t.debug_abbrev
.b8 29                                  // DW_TAG_inlined_subroutine
"""
PTX_COMMENTED = PTX_OLD.replace(
    "// standard.py:330:12", "// standard.py:330:12 @[ standard.py:559:17 @[ case.py:25:29 ] ]"
)
PTX_NEW = PTX_OLD.replace(
    "\t.loc\t2 330 12                        // standard.py:330:12",
    "\t.loc\t2 559 17, function_name $L__info_string0, inlined_at 1 25 29 // standard.py:559:17\n"
    "\t.loc\t2 330 12, function_name $L__info_string0, inlined_at 2 559 17 // standard.py:330:12",
)

AMDGCN = """\
k:                                      ; @k
\t.file\t1 "/repo" "case.py"
\t.loc\t1 23 9 is_stmt 0                ; case.py:23:9
\tbuffer_load_dword v3, v3, s[8:11], 0 offen
.Ltmp2:
\t.file\t2 "/lib/triton/language" "standard.py"
\t.loc\t2 330 12 is_stmt 1   ; standard.py:330:12 @[ standard.py:559:17 @[ case.py:25:29 ] ]
\tds_swizzle_b32 v4, v3 offset:swizzle(SWAP,1)
\t.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     0
"""

SASS = f"""\
\t.section\t.text.k,"ax",@progbits
.text.k:
\t//## File "{CASE}", line 23
        /*0000*/               @P0 LDG.E R2, desc[UR6][R6.64] ;
\t//## File "{LIBRARY}", line 330 inlined at "{LIBRARY}", line 559
\t//## File "{LIBRARY}", line 559 inlined at "{CASE}", line 25
\t//## File "{CASE}", line 25
        /*0010*/                   SHFL.BFLY PT, R12, R13, 0x1, 0x1f ;
\t//## File "{CASE}", line 25
        /*0020*/                   EXIT ;
"""
SASS_OLD = f"""\
\t//## File "{LIBRARY}", line 330
        /*0010*/                   SHFL.BFLY PT, R12, R13, 0x1, 0x1f ;
"""

LOAD = (Place(CASE, 23, 9),)
FLIP = (Place(LIBRARY, 330, 12), Place(LIBRARY, 559, 17), Place(CASE, 25, 29))


def operations(rows: list[Row]) -> dict[str, tuple[tuple[Place, ...], ...]]:
    return {row.operation: row.chains for row in rows if row.operation}


def test_mlir_chains_go_from_the_operation_to_the_kernel() -> None:
    found = operations(read("ttir", MLIR))
    assert found["tt.load"] == (LOAD,)
    assert found["arith.xori"] == ((Place(LIBRARY, 319, 12), *FLIP),)
    # its location stands behind its region
    assert found["tt.reduce"] == found["tt.reduce.return"] == (FLIP,)
    assert found["tt.store"] == ((Place(CASE, 25, 5),), (Place(CASE, 9, 2),))


def test_mlir_loses_its_locations_and_nothing_else() -> None:
    rows = [row.text for row in read("ttgir", MLIR)]
    assert "    %0 = tt.load %x : tensor<8xf32>" in rows
    assert "    ^bb0(%y_40: i32, %y_41: i32):" in rows
    assert not any("loc" in row for row in rows)
    assert len(rows) == sum(not line.startswith("#loc") for line in MLIR.splitlines())


def test_llvm_chains_follow_inlined_at_and_scopes_without_a_file() -> None:
    rows = read("llir", LLVM)
    found = operations(rows)
    assert found["llvm.nvvm.shfl.sync.bfly.i32"] == (FLIP,)
    assert found["xor"] == ((Place(CASE, 25, 5),),)
    assert found["asm"] == ((Place(CASE, 25, 5),),)
    assert not any("dbg !2" in row.text or row.text.startswith("!") for row in rows)


@pytest.mark.parametrize("text", [PTX_COMMENTED, PTX_NEW])
def test_ptx_tells_chains_in_comments_or_directives(text: str) -> None:
    found = operations(read("ptx", text))
    assert found["shfl.sync.bfly.b32"] == (FLIP,)
    assert found["ld.global.b32"] == ((Place(CASE, 23, 16),),)
    assert found["ret"] == ((Place(CASE, 25, 4),),)
    assert set(found) == {"shfl.sync.bfly.b32", "ld.global.b32", "ret"}


def test_ptx_without_chains_takes_them_from_llvm() -> None:
    found = operations(read("ptx", PTX_OLD, (LOAD, FLIP)))
    assert found["shfl.sync.bfly.b32"] == (FLIP,)
    found = operations(read("ptx", PTX_OLD, (LOAD,)))
    assert found["shfl.sync.bfly.b32"] == ((Place(LIBRARY, 330, 12),),)


def test_the_tables_at_the_end_of_assembly_are_left_out() -> None:
    for text in (PTX_OLD, AMDGCN):
        stage = "ptx" if text is PTX_OLD else "amdgcn"
        shown = "\n".join(row.text for row in read(stage, text))
        assert "DW_TAG" not in shown
        assert "agpr" not in shown
        assert ".loc" not in shown


def test_amd_assembly_tells_chains_in_comments() -> None:
    found = operations(read("amdgcn", AMDGCN))
    assert found == {"buffer_load_dword": (LOAD,), "ds_swizzle_b32": (FLIP,)}


def test_sass_chains_have_no_columns() -> None:
    found = operations(read("sass", SASS))
    without = tuple(Place(p.path, p.line) for p in FLIP)
    assert found["SHFL.BFLY"] == (without,)
    assert found["LDG.E"] == ((Place(CASE, 23),),)
    assert found["EXIT"] == ((Place(CASE, 25),),)


def test_old_sass_takes_chains_from_llvm_by_the_line() -> None:
    found = operations(read("sass", SASS_OLD, (LOAD, FLIP)))
    assert found["SHFL.BFLY"] == (FLIP,)
