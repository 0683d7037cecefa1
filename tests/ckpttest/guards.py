# SPDX-License-Identifier: BSD-3-Clause
"""guards.py - what tools find in the sources without running them. Each guard returns findings as
text; a tool that is missing is a finding, too."""

import os
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from . import compilations, formatting, sources
from .fuzzing import CLANG
from .settings import BUILD, TOP

# Seconds for one call of a tool; the longest is clang-tidy on a large C++ file.
LONGEST = 600

# Sources that ./run-tests compiles once more for a guard; `tests/guards --all` takes all.
MOST_SOURCES = 6

# Debian 12's own version of clang does not know all of C++20.
COMPILERS = {"gcc": ("gcc", "g++"), "clang": (f"clang-{CLANG}", f"clang++-{CLANG}")}
TIDY = f"clang-tidy-{CLANG}"

COMPILER_FLAGS = {
    "gcc": ["-Wall", "-Wextra", "-Werror"],
    # The sources switch off warnings that only gcc has.
    "clang": ["-Wall", "-Wextra", "-Werror", "-Wno-unknown-warning-option", "-fsyntax-only"],
}

# Flags of the build that clang does not know.
GCC_ONLY = ("-fno-tree-loop-distribute-patterns",)


class Missing(Exception):
    """A tool is not installed."""


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What the guards of compiled sources look at."""

    every: bool = True
    since: str | None = None  # a commit; used if not `every`
    most: int | None = None  # sources; more are sampled evenly
    jobs: int = os.cpu_count()


def tool(name):
    """Returns the path of a tool, from the build's Python environment or the system."""
    path = shutil.which(name, path=f"{BUILD}/venv/bin:{os.environ['PATH']}")
    if path is None:
        raise Missing(f"{name} is not installed: ./setup installs it")
    return path


def _run(call, directory=TOP, **settings):
    """Returns the output of a tool that fails, or nothing."""
    done = subprocess.run(
        [str(word) for word in call],
        cwd=directory,
        env={**os.environ, "LC_ALL": "C.UTF-8", **settings},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=LONGEST,
        check=False,
    )
    if done.returncode == 0:
        return []
    return [done.stdout or f"{call[0]} ended with {done.returncode}\n"]


def shell(files):
    """shellcheck: quoting, variables that are not set, commands that fail unnoticed."""
    return _run([tool("shellcheck"), "-x", "--source-path=SCRIPTDIR", *files])


def spelling(files):
    """codespell: words that are spelt wrong in comments, messages, names and documents."""
    return _run([tool("codespell"), "--ignore-words", TOP / "tests/spelling.txt", *files])


def python(files):
    """ruff: likely faults of Python code (ruff.toml)."""
    rules = f"--config={TOP}/ruff.toml"
    return _run([tool("ruff"), "check", rules, "--output-format=concise", "--quiet", *files])


def layout(files):
    """clang-format: the layout of C and C++ (.clang-format, tests/format); long lines."""
    tool("clang-format")
    text = "".join([*formatting.differences(files), *formatting.long_lines(files)])
    return [text] if text else []


def _on_each(function, chosen, jobs):
    with ThreadPoolExecutor(jobs) as pool:
        return [finding for findings in pool.map(function, chosen) for finding in findings]


def _compiler_call(one, family):
    """Returns the words and settings that compile a source with gcc or clang. The wrappers of MPI
    add the flags of their MPI and call the compiler that a variable names."""
    compiler = tool(COMPILERS[family][one.is_cpp])
    if "mpi" not in Path(one.compiler).name:
        return [compiler], {}
    return [one.compiler], {"OMPI_CXX" if one.is_cpp else "OMPI_CC": compiler}


def warnings(chosen, family, jobs=1):
    """Compiles sources with gcc or with clang; each warning of -Wall -Wextra is a finding."""

    def one_source(one):
        call, settings = _compiler_call(one, family)
        # gcc warns of some faults only when it optimises, as the build does.
        with tempfile.NamedTemporaryFile(suffix=".o") as output:
            flags = [flag for flag in one.flags if family == "gcc" or flag not in GCC_ONLY]
            call += [*flags, *COMPILER_FLAGS[family], "-c", "-o", output.name, one.source]
            return _run(call, one.directory, **settings)

    return _on_each(one_source, chosen, jobs)


def tidy(chosen, jobs=1):
    """clang-tidy: likely faults of C and C++ (.clang-tidy)."""
    program = tool(TIDY)
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        plain = [_without_wrapper(one) for one in chosen]
        compilations.write_database(place / "compile_commands.json", plain)
        call = [program, "--quiet", "-p", place, "--warnings-as-errors=*"]
        return _on_each(lambda one: _run([*call, one.source], TOP), plain, jobs)


def _without_wrapper(one):
    """Returns the compilation as clang gets it, without a wrapper of MPI."""
    shown = []
    if "mpi" in Path(one.compiler).name:
        shown = subprocess.run(
            [one.compiler, "--showme:compile"], capture_output=True, text=True, check=True
        ).stdout.split()
    flags = tuple(flag for flag in (*shown, *one.flags) if flag not in GCC_ONLY)
    compiler = "g++" if one.is_cpp else "gcc"
    return compilations.Compilation(one.source, compiler, flags, one.directory)


def _chosen(scope):
    """Returns the compilations that a scope means."""
    files = [path for path in sources.c_files() if path.suffix in (".c", ".cpp")]
    known = compilations.of_all(files)
    own = [path for path in files if path in known]
    if not scope.every:
        own = sources.to_compile(sources.changed_since(scope.since), own)
    if scope.most and len(own) > scope.most:
        own = own[:: -(-len(own) // scope.most)]
    return [known[path] for path in own]


# The guards, in the order of their times.
GUARDS: dict[str, Callable[[Scope], list[str]]] = {
    "shell": lambda _: shell(sources.shell_files()),
    "python": lambda _: python(sources.python_files()),
    "spelling": lambda _: spelling(sources.all_files()),
    "layout": lambda _: layout(sources.c_files()),
    "clang": lambda scope: warnings(_chosen(scope), "clang", scope.jobs),
    "gcc": lambda scope: warnings(_chosen(scope), "gcc", scope.jobs),
    "tidy": lambda scope: tidy(_chosen(scope), scope.jobs),
}


def default_scope():
    """Returns the scope of ./run-tests: what this change touches, as far as a minute suffices."""
    since = os.environ.get("CKPT_GUARDS_SINCE") or sources.default_commit()
    return Scope(every=since is None, since=since, most=MOST_SOURCES)


def findings(name, scope):
    """Returns what a guard finds."""
    try:
        return GUARDS[name](scope)
    except (Missing, compilations.NotListed) as error:
        return [f"{error}\n"]
