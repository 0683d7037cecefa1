# SPDX-License-Identifier: BSD-3-Clause
"""`make dist` packs the content of the repository."""

import re
import shutil
import subprocess

import pytest

from ckpttest.settings import BUILD, TOP

NOT_PACKED = [".gitignore"]


@pytest.mark.skipif(not (TOP / ".git").exists(), reason="this is no clone of the repository")
def test_all_files_are_packed():
    listed = subprocess.run(
        ["git", "-C", TOP, "ls-files"], capture_output=True, text=True, check=True
    ).stdout
    begin = (TOP / "configure.ac").read_text(encoding="ascii")
    packed = BUILD / "ckpt-{}".format(re.search(r"AC_INIT\(\[ckpt\], \[(.*?)\]", begin)[1])
    try:
        subprocess.run(["make", "-C", BUILD, "-s", "distdir"], capture_output=True, check=True)
        missing = [name for name in listed.splitlines() if not (packed / name).exists()]
    finally:
        shutil.rmtree(packed, ignore_errors=True)
    assert missing == NOT_PACKED


def test_changelog_has_this_version():
    version = re.search(
        r"AC_INIT\(\[ckpt\], \[(.*?)\]", (TOP / "configure.ac").read_text(encoding="ascii")
    )[1]
    text = (TOP / "CHANGELOG.md").read_text(encoding="utf-8")
    releases = re.findall(r"^## \[([\d.]+)\] - \d{4}-\d\d-\d\d$", text, re.MULTILINE)
    assert text.count("## [Unreleased]\n") == 1
    assert releases[0] == version
    kinds = set(re.findall(r"^### (.*)$", text, re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
