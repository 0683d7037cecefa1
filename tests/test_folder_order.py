# SPDX-License-Identifier: BSD-3-Clause
"""Each folder of the sources uses only folders that stand lower."""

import subprocess

import pytest

from ckpttest.folder_order import TREES, Sources, Tree, circles, complaints, upward
from ckpttest.settings import BUILD, TOP


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.name)
def test_folders_use_lower_ones(tree):
    assert complaints(Sources(tree, TOP, BUILD)) == []


# ---- The check itself, on a small tree ------------------------------------------------

FILES = {
    "low/one.h": "int one(void);",
    "low/one.c": '#include "low/one.h"\nint one(void) { return 1; }',
    "low/two.c": "int three(void);\nint two(void) { return three(); }",
    "high/three.c": '#include "low/one.h"\nint three(void) { return one(); }',
    "high/four.h": "enum { FOUR = 4 };",
    "beside/five.c": "int one(void);\nint five(void) { return one(); }",
}


@pytest.fixture
def small(tmp_path):
    """Returns a function that compiles FILES, with changes, as a Tree with changes."""

    def make(changed_files=(), **changed):
        files = {**FILES, **dict(changed_files)}
        for name, text in files.items():
            path = tmp_path / "tree" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n", encoding="ascii")
        for name in files:
            path = tmp_path / "tree" / name
            built = (tmp_path / "build/tree" / name).with_suffix(".o")
            if path.suffix == ".c":
                built.parent.mkdir(parents=True, exist_ok=True)
                command = ["cc", "-c", "-I", tmp_path / "tree", path, "-o", built]
                subprocess.run(command, check=True)
        tree = Tree(name="tree", levels=("low", "high beside"), objects=("*/*.o",), **changed)
        return Sources(tree, tmp_path, tmp_path / "build")

    return make


def test_a_symbol_from_above_is_found(small):
    assert upward(small()) == {("low/two", "high/three"): ["three"]}


def test_an_include_from_above_is_found(small):
    sources = small({"low/one.c": '#include "high/four.h"\nint one(void) { return FOUR; }'})
    assert upward(sources)["low/one", "high/four"] == ["#include"]


def test_folders_of_one_level_do_not_use_each_other(small):
    sources = small({"beside/five.c": "int three(void);\nint five(void) { return three(); }"})
    assert upward(sources)["beside/five", "high/three"] == ["three"]


def test_folders_that_are_apart_do_not_use_each_other(small):
    changed = {"beside/five.c": "int one(void);\nint five(void) { return one(); }"}
    assert ("beside/five", "low/one") in upward(small(changed, apart=("low beside",)))


def test_names_that_stand_in_for_libc_are_no_use_of_their_folder(small):
    sources = small(
        {
            "high/six.c": "int close(int fd) { return fd; }\nint ckpt_six(void) { return 6; }",
            "low/one.c": "int close(int);\nint ckpt_six(void);\n"
            "int one(void) { return close(1) + ckpt_six(); }",
        },
        interposers=("high",),
    )
    assert upward(sources)["low/one", "high/six"] == ["ckpt_six"]


def test_exceptions_are_exact(small):
    reason = "two calls three for this test"
    assert complaints(small(allowed={("low/two", "high/three"): reason})) == []
    needless = {("low/two", "high/three"): reason, ("low/one", "high/four"): reason}
    assert complaints(small(allowed=needless)) == [
        "low/one -> high/four: allowed, but not needed any more"
    ]


def test_a_folder_must_be_in_the_table(small):
    sources = small({"new/seven.c": "int seven(void) { return 7; }"})
    assert "new/seven: the table names no folder of it" in complaints(sources)


def test_circles_are_found_and_limited(small):
    ring = {
        f"low/ring{n}.c": f"int ring{(n + 1) % 13}(void);\nint ring{n}(void) {{ return "
        f"ring{(n + 1) % 13}(); }}"
        for n in range(13)
    }
    allowed = {("low/two", "high/three"): "a reason"}
    names = " ".join(sorted(name.removesuffix(".c") for name in ring))
    assert complaints(small(ring, allowed=allowed)) == [f"low: a circle of 13: {names}"]
    assert complaints(small(ring, allowed=allowed, circles={"low": (13, "a reason")})) == []
    assert complaints(small(ring, allowed=allowed, circles={"low": (14, "a reason")})) == [
        "low: its circle has 13 object files, not 14"
    ]


def test_circles_of_a_graph():
    edges = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("e", "d"), ("e", "f")]
    assert circles(edges) == [["a", "b", "c"], ["d", "e"]]


def test_object_files_without_a_source_do_not_count(small, tmp_path):
    sources = small()
    (tmp_path / "tree/low/two.c").rename(tmp_path / "tree/low/two.h")
    assert upward(Sources(sources.tree, tmp_path, tmp_path / "build")) == {}


def test_a_tree_that_is_not_built_is_an_error(small, tmp_path):
    sources = small()
    for path in (tmp_path / "build").rglob("*.o"):
        path.unlink()
    with pytest.raises(FileNotFoundError):
        complaints(sources)
