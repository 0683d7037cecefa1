# SPDX-License-Identifier: BSD-3-Clause
"""Folders: none is too large to read, and each large one explains itself in a README.md."""

import collections
import re
import subprocess

import pytest
from ckpttest.settings import TOP

LARGEST = 40  # files, without the README.md
UNEXPLAINED = 10  # files that need no README.md
LINES = 20
# Larger, and each is a list: test programs by subject, programs that measure.
LISTS = {"tests": 120, "benchmarks": 60, "tests/ckpttest": 60}
_NAME = re.compile(r"`([\w./*-]+(?:\.\w+|/))`")


def _folders():
    files = subprocess.run(
        ["git", "ls-files"], cwd=TOP, text=True, check=True, stdout=subprocess.PIPE
    ).stdout.split()
    counts = collections.Counter(name.rpartition("/")[0] or "." for name in files)
    for name in files:
        if name.endswith("README.md"):
            counts[name.rpartition("/")[0] or "."] -= 1
    return counts


@pytest.fixture(scope="module")
def folders():
    if not (TOP / ".git").exists():
        pytest.skip("not a clone")
    return _folders()


def test_no_folder_is_too_large(folders):
    too_large = {f: n for f, n in folders.items() if n > LISTS.get(f, LARGEST)}
    assert not too_large


def test_large_folders_explain_themselves(folders):
    large = [folder for folder, count in folders.items() if count > UNEXPLAINED]
    silent = [folder for folder in large if not (TOP / folder / "README.md").exists()]
    assert not silent


def test_explanations_are_short_and_name_what_exists(folders):
    wrong = []
    for folder in folders:
        page = TOP / folder / "README.md"
        if folder == "." or not page.exists():
            continue
        text = page.read_text()
        if text.count("\n") > LINES:
            wrong.append(f"{folder}: {text.count(chr(10))} lines")
        for name in _NAME.findall(text):
            if name.startswith("build/") or "NAME" in name or "KIND" in name:
                continue
            if not any(any(base.glob(name.rstrip("/"))) for base in (TOP / folder, TOP)):
                wrong.append(f"{folder}: {name}")
    assert not wrong


def test_documents_name_what_exists():
    """Names of files that begin with a folder of the repository."""
    top = "(?:apps|benchmarks|docs|launcher|libckpt|mpi-plugin|tests)"
    name = re.compile(rf"`({top}/[\w./*-]+)`")
    pages = [TOP / "README.md", TOP / "CONTRIBUTING.md", *(TOP / "docs").glob("*.md")]
    wrong = [
        f"{page.name}: {one}"
        for page in pages
        for one in name.findall(page.read_text("utf-8"))
        if not any(part in one for part in ("NAME", "KIND"))
        and not any(any(TOP.glob(f"{one.rstrip('/')}{end}")) for end in ("", ".cpp", ".c"))
    ]
    assert not wrong
