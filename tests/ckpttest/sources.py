# SPDX-License-Identifier: BSD-3-Clause
"""sources.py - the files of the repository by language, and those that a change touches."""

import re
import subprocess

from .settings import TOP

C_SUFFIXES = {".c", ".h", ".cpp", ".hpp"}
_SHELL = re.compile(rb"#!.*\b(?:ba|da)?sh\b")
_PYTHON = re.compile(rb"#!.*\bpython3?\b")
_INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)


def _git(*words):
    return subprocess.run(
        ["git", "-C", TOP, *words], capture_output=True, text=True, check=True
    ).stdout


def all_files():
    """Returns the absolute paths of tracked files and of new ones that git does not ignore."""
    names = _git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    return sorted({TOP / name for name in names if name and (TOP / name).is_file()})


def _with_first_line(pattern, suffixes):
    found = []
    for path in all_files():
        if path.suffix in suffixes:
            found.append(path)
        elif path.suffix not in C_SUFFIXES:
            with open(path, "rb") as file:
                if pattern.match(file.readline(200)):
                    found.append(path)
    return found


def shell_files():
    """Returns all shell scripts."""
    return _with_first_line(_SHELL, {".sh", ".sbatch"})


def python_files():
    """Returns all Python files, with a suffix or without."""
    return _with_first_line(_PYTHON, {".py"})


def c_files():
    """Returns all C and C++ files; no generated ones, as these are not in the repository."""
    return [path for path in all_files() if path.suffix in C_SUFFIXES]


def default_commit():
    """Returns the commit since which files count as changed: where this branch left the one that it
    follows, or the commit before this one; None if there is no other commit."""
    head = _git("rev-parse", "HEAD")
    for words in (("merge-base", "HEAD", "@{upstream}"), ("rev-parse", "HEAD~1")):
        done = subprocess.run(
            ["git", "-C", TOP, *words], capture_output=True, text=True, check=False
        )
        if done.returncode == 0 and done.stdout != head:
            return done.stdout.strip()
    return None


def changed_since(commit):
    """Returns files that differ from those of a commit, committed or not."""
    names = _git("diff", "--name-only", "-z", commit).split("\0")
    names += _git("ls-files", "-z", "--others", "--exclude-standard").split("\0")
    return sorted({TOP / name for name in names if name and (TOP / name).is_file()})


def to_compile(changed, compiled):
    """Returns the sources whose compilation shows faults of changed files.

    changed   files, of any kind
    compiled  all sources that the build compiles
    Of a header that is its source of the same name, or the first one that includes it.
    """
    chosen = set(changed) & set(compiled)
    headers = [path for path in changed if path.suffix in (".h", ".hpp")]
    included = None
    for header in headers:
        own = [header.with_suffix(suffix) for suffix in (".c", ".cpp")]
        own = [path for path in own if path in compiled]
        if not own:
            if included is None:
                included = {path: _INCLUDE.findall(path.read_text("utf-8")) for path in compiled}
            own = [p for p in sorted(compiled) if _includes(included[p], header)][:1]
        chosen.update(own)
    return sorted(chosen)


def _includes(names, header):
    return any(("/" + str(header)).endswith("/" + name.lstrip("./")) for name in names)
