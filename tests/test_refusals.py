# SPDX-License-Identifier: BSD-3-Clause
"""Every refusal has an identity of the table (ckpt/refusals.h), and every identity is used."""

import re
import subprocess
import sys

import pytest

from ckpttest import refusals
from ckpttest.settings import TOP

SOURCES = [
    path
    for part in ("libckpt", "mpi-plugin", "launcher")
    for path in sorted((TOP / part).rglob("*"))
    if path.suffix in (".c", ".h", ".cpp", ".hpp")
    and "tests" not in path.relative_to(TOP).parts
    and path != refusals.TABLE
]


@pytest.fixture(scope="module")
def sources():
    return {path.relative_to(TOP): path.read_text(encoding="utf-8") for path in SOURCES}


def found(sources, pattern, *parts):
    """Returns the places in sources below `parts` that match the pattern."""
    return [
        f"{path}: {match[0]}"
        for path, text in sources.items()
        if not parts or path.parts[0] in parts
        for match in re.finditer(pattern, text)
    ]


def test_numbers_and_names_are_unique():
    entries = refusals.table()
    for column in zip(*entries, strict=True):
        assert len(set(column)) == len(entries)
    for _, identifier, name in entries:
        assert name == identifier.lower().replace("_", "-")


def test_every_identity_is_used(sources):
    used = set(re.findall(r"\bCKPT_REFUSAL_(\w+)", "\n".join(sources.values())))
    known = {identifier for _, identifier, _ in refusals.table()}
    assert known - used == set()
    assert used - known - {"NONE"} == set()


def test_no_refusal_goes_without_an_identity(sources):
    """What the types do not require: refusals of the plugin's own, not of a system call's; commands
    that exit with code 4; and answers of agents."""
    own = r"ckpt_fail\(\s*&?\w+,\s*-E(NOTSUP|OPNOTSUPP|BUSY|PROTO|AGAIN|STALE|EXIST)\b[^;]*"
    rest = [place for place in found(sources, own) if "no thread for the MPI library" not in place]
    assert rest == []
    assert found(sources, r"stop_with\(\s*exit_refused") == []
    assert found(sources, r'\bevent = "error"', "launcher") == [
        "launcher/agent/control/control.cpp: event = \"error\"",
        "launcher/agent/control/control_server.cpp: event = \"error\"",
    ]
    reports = found(sources, r"CKPT_MSG_REFUSED,[^;]*;", "mpi-plugin")
    assert [report.partition(":")[0].rpartition("/")[2] for report in reports] == [
        "report.c",  # ckpt_report_refusal()
        "agent_link.c",  # in place of a message that must not be sent
        "shell_order.c",  # the rank's process does not become a shell
        "shell.c",  # the same, after execve()
        "deferral.c",  # ckpt_deferral_refuse()
    ]


def test_the_manual_page_is_made_from_the_table():
    made = subprocess.run(
        [sys.executable, TOP / "docs/make-errors-page", refusals.TABLE],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    page = (TOP / "docs/man/ckpt-errors.7").read_text(encoding="ascii")
    assert page == made, "run docs/make-errors-page again"
    names = re.findall(r"^\.It Sy (\S+)$", page, re.MULTILINE)
    assert sorted(names) == sorted(name for _, _, name in refusals.table())
