# SPDX-License-Identifier: BSD-3-Clause
"""The guards find nothing in the repository, and each finds a fault that is put before it."""

from pathlib import Path

import pytest

from ckpttest import compilations, guards, sources
from ckpttest.settings import BUILD, TOP

pytestmark = pytest.mark.skipif(
    not (TOP / ".git").exists(), reason="this is no clone of the repository"
)

# One source each with one fault, which the compilers and clang-tidy must find.
UNUSED = "int main(void) { int unused = 1; return 0; }\n"
LOST_SIZE = (
    "#include <stdlib.h>\n#include <string.h>\n"
    "char *copy(const char *text) { return malloc(strlen(text + 1)); }\n"
)
RIGHT = "int main(void) { return 0; }\n"


# clang-tidy has not seen the whole tree yet.
NOT_YET = {"tidy"}


@pytest.mark.parametrize("name", [name for name in guards.GUARDS if name not in NOT_YET])
def test_finds_nothing(name):
    assert "".join(guards.findings(name, guards.default_scope())) == ""


def written(directory, name, text):
    path = directory / name
    path.write_text(text, encoding="utf-8")
    return path


def compilation(directory, text):
    source = written(directory, "source.c", text)
    return compilations.Compilation(source, "gcc", ("-O2",), directory)


@pytest.mark.parametrize(
    "guard, name, faulty, right",
    [
        (guards.shell, "a", "#!/bin/sh\nrm $1\n", '#!/bin/sh\nrm "$1"\n'),
        (guards.python, "a.py", "print(unknown)\n", "print(1)\n"),
        (guards.spelling, "a.md", "This is " + "recie" + "ved.\n", "This is received.\n"),
        (guards.layout, "a.c", "int  a;\n", "int a;\n"),
    ],
)
def test_a_fault_of_a_file_is_found(tmp_path, monkeypatch, guard, name, faulty, right):
    written(tmp_path, ".clang-format", (TOP / ".clang-format").read_text("utf-8"))
    monkeypatch.setattr(guards.formatting, "TOP", tmp_path)
    assert guard([written(tmp_path, name, right)]) == []
    found = "".join(guard([written(tmp_path, name, faulty)]))
    assert name in found


@pytest.mark.parametrize("family", guards.COMPILER_FLAGS)
def test_a_warning_is_found(tmp_path, family):
    assert guards.warnings([compilation(tmp_path, RIGHT)], family) == []
    (found,) = guards.warnings([compilation(tmp_path, UNUSED)], family)
    assert "source.c:1:" in found and "unused" in found


def test_a_likely_fault_is_found(tmp_path):
    written(tmp_path, ".clang-tidy", (TOP / ".clang-tidy").read_text("utf-8"))
    assert guards.tidy([compilation(tmp_path, RIGHT)]) == []
    (found,) = guards.tidy([compilation(tmp_path, LOST_SIZE)])
    assert "bugprone-misplaced-operator-in-strlen-in-alloc" in found


@pytest.mark.parametrize("guard", [guards.shell, guards.python, guards.spelling, guards.layout])
def test_a_missing_tool_is_a_finding(monkeypatch, guard):
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(guards, "BUILD", Path("/nonexistent"))
    monkeypatch.setitem(guards.GUARDS, "any", lambda _: guard([]))
    (found,) = guards.findings("any", guards.Scope())
    assert "is not installed: ./setup installs it" in found


def test_the_build_compiles_every_source():
    files = [path for path in sources.c_files() if path.suffix in (".c", ".cpp")]
    known = compilations.of_all(files)
    by_hand = [TOP / "tests/coverage_exit.c"]
    assert [path for path in files if path not in known] == by_hand
    one = known[TOP / "libckpt/base/text.c"]
    assert one.compiler == "gcc" and one.directory == BUILD / "libckpt"
    assert "-Wextra" in one.flags and "-o" not in one.flags


def test_a_header_is_compiled_by_a_source(tmp_path):
    own = [written(tmp_path, name, "") for name in ("a.c", "b.cpp")]
    other = written(tmp_path, "c.c", '#include "folder/plain.h"\n')
    (tmp_path / "folder").mkdir()
    plain = written(tmp_path / "folder", "plain.h", "")
    compiled = [*own, other]
    assert sources.to_compile([tmp_path / "a.h"], compiled) == [own[0]]
    assert sources.to_compile([tmp_path / "b.hpp"], compiled) == [own[1]]
    assert sources.to_compile([plain], compiled) == [other]
    assert sources.to_compile([own[1], tmp_path / "notes.md"], compiled) == [own[1]]
