# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages: both of Debian's viewers read them without a warning, and the output has no
formatting errors."""

import re
import subprocess

import pytest

from ckpttest.settings import BUILD, TIMEOUT, TOP

PAGES = sorted(
    page for folder in (TOP, BUILD) for page in (folder / "docs/man").glob("ckpt*.[1-8]")
)

RENDERERS = {
    "groff": ["groff", "-mandoc", "-Tutf8", "-ww", "-P-c", "-P-b", "-P-u"],
    "mandoc": ["mandoc", "-Tutf8", "-Wwarning"],
}


def run(*command):
    return subprocess.run(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        timeout=TIMEOUT,
        check=False,
    )


def plain(text):
    """Returns the text without overstriking."""
    return re.sub(r"\x1b\[[0-9;]*m", "", re.sub(".\b", "", text))


@pytest.mark.parametrize("renderer", RENDERERS)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_render(page, renderer):
    done = run(*RENDERERS[renderer], page)
    assert (done.returncode, done.stderr) == (0, "")
    text = plain(done.stdout)
    assert not re.findall(r"^ *<.*>$", text, re.MULTILINE), "a heading became an include"
    flat = " ".join(text.split())
    assert not re.findall(r"‘[^’‘]*‘|’’", flat), "quotes are in one another"
    assert page.stem.upper() in text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_lint(page):
    done = run("mandoc", "-Tlint", "-Wwarning", page)
    assert done.stdout == ""


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.match("ckpt-*.1")], ids=lambda page: page.name
)
def test_synopsis_has_all_options(page):
    text = page.read_text(encoding="utf-8")
    synopsis = text[text.index(".Sh SYNOPSIS") : text.index(".Sh DESCRIPTION")]
    options = set(re.findall(r"^\.It Fl (-[a-z-]+)", text, re.MULTILINE)) - {"-help"}
    assert options <= set(re.findall(r"Fl (-[a-z-]+)", synopsis))
