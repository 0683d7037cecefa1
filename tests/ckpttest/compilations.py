# SPDX-License-Identifier: BSD-3-Clause
"""compilations.py - how the build compiles each source, for tools that look at sources."""

import json
import os
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .settings import BUILD, TOP

FOLDERS = ("libckpt", "mpi-plugin", "launcher", "apps", "apps/threaded", "benchmarks")

# Automake knows a second suffix of objects, for other systems. As no such object exists, make wants
# to compile all of them.
SUFFIX = "obj"

# In a dry run make does not pass on which files count as new: it must not call itself for `all`.
GOALS = ("all-am", "check-am", "listed-extra")
EXTRA = "listed-extra: ; $(MAKE) all-am $(EXTRA_PROGRAMS)"

# What belongs to one way of running a compiler: outputs and lists of headers.
_OUTPUTS = re.compile(r"-(?:M[A-Z]*|c|o)$")
_COMPILER = re.compile(r"\S*(?:gcc|g\+\+|mpicc|mpicxx|clang|cc|c\+\+)\S* ")
_WITH_VALUE = ("-o", "-MT", "-MF", "-MQ")


class NotListed(Exception):
    """The build cannot say how it compiles its sources."""


@dataclass(frozen=True)
class Compilation:
    """One source, and the compiler with its flags, without those that name outputs."""

    source: Path
    compiler: str
    flags: tuple
    directory: Path  # where it runs

    @property
    def is_cpp(self):
        return self.source.suffix == ".cpp"


def _make(folder, *words):
    # MAKEFLAGS: this may be a test that make runs.
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS")}
    return subprocess.run(
        ["make", *words],
        cwd=BUILD / folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def _commands(folder, sources):
    """Returns what make would do to compile everything in this folder."""
    # Even a dry run would configure first, which several guards must not do at once.
    if _make(folder, "-q", "Makefile").returncode != 0:
        raise NotListed(f"{BUILD / folder} is older than its Makefile.am: build first")
    call = ["-n", f"OBJEXT={SUFFIX}", "CYGPATH_W=echo", "V=1", "TESTS=", f"--eval={EXTRA}"]
    # A program that is compiled and linked at once has no object: its source counts as new.
    for source in sources:
        call += ["-W", str(source)]
    done = _make(folder, *call, *GOALS)
    if done.returncode != 0:
        raise NotListed(f"make -n in {BUILD / folder} failed: build first\n{done.stderr}")
    text = done.stdout.replace("\\\n", " ")
    return re.sub(r"^depbase=`[^`]*`;\s*", "", text, flags=re.MULTILINE).splitlines()


def _calls(line):
    """Yields the words of each call of a compiler in a line of a recipe. Automake writes
    `if test -f 'x.c'; ...; else echo '/src/x.c'; fi` as the name of a source."""
    line = re.sub(r"`[^`]*echo '([^']*)'(?:; fi)?`", r"'\1'", line)
    for part in line.split(" && "):
        part = part.strip()
        if _COMPILER.match(part) and " -o " in part:
            yield shlex.split(part.removesuffix("&&"))


def _parse(words, directory):
    """Returns the compilations of one call, one for each of its sources."""
    flags, sources = [], []
    words_left = iter(words[1:])
    for word in words_left:
        if word in _WITH_VALUE:
            next(words_left)
        elif word.endswith((".c", ".cpp")):
            paths = [Path(word)]
            if "*" in word:
                paths = Path(word).parent.glob(Path(word).name)
            sources += [(directory / path).resolve() for path in paths]
        elif not _OUTPUTS.match(word) and not word.startswith("-Wl,"):
            flags.append(word)
    return [Compilation(source, words[0], tuple(flags), directory) for source in sources]


def of_all(sources):
    """Returns {source: Compilation} of all C and C++ files that the build compiles.

    sources  absolute paths of the project's own C and C++ files; of a file that several programs
             compile, any one of the commands is returned
    """
    found = {}
    for folder in FOLDERS:
        own = [source for source in sources if source.is_relative_to(TOP / folder)]
        for line in _commands(folder, own):
            for words in _calls(line):
                for compilation in _parse(words, BUILD / folder):
                    found.setdefault(compilation.source, compilation)
    return found


def write_database(path, compilations):
    """Writes the file that clang's tools read (compile_commands.json)."""
    entries = [
        {
            "file": str(one.source),
            "directory": str(one.directory),
            "arguments": [one.compiler, *one.flags, "-c", str(one.source)],
        }
        for one in compilations
    ]
    path.write_text(json.dumps(entries, indent=1), encoding="utf-8")
