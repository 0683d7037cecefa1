# SPDX-License-Identifier: BSD-3-Clause
"""folder_order.py - which folder of a source tree may use which: by #include, and by
the symbols of the object files.

As a program it lists what breaks the rules: python -m ckpttest.folder_order [BUILD]
"""

import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

SOURCES = (".c", ".cpp", ".h", ".hpp", ".S")
LARGEST_CIRCLE = 12  # object files of one folder that use each other
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


@dataclass(frozen=True)
class Tree:
    """A tree of sources, its folders, and their order.

    A folder may use those of lower levels, so not those that stand beside it. A folder
    that is not named belongs to the nearest one above it that is. A file is named by its
    path without suffix."""

    name: str  # its directory, in the sources and in the build
    levels: tuple  # of space-separated folders, the lowest first
    objects: tuple  # patterns of the object files, relative to the build's directory
    generated: dict = field(default_factory=dict)  # pattern of files in the build: folder
    outside: tuple = ()  # folders and generated files that are not part of the program
    interposers: tuple = ()  # folders whose functions stand in for libc's
    apart: tuple = ()  # space-separated folders that do not use each other at all
    allowed: dict = field(default_factory=dict)  # (from, to): the reason
    circles: dict = field(default_factory=dict)  # folder: (object files, the reason)


TREES = (
    Tree(
        name="libckpt",
        levels=(
            "include",
            "sys",
            "base",
            "ipc",
            "memory",
            "process",
            "task",
            "journal/log",
            "journal",
            "files",
            "restore",
        ),
        objects=("**/*.o",),
        outside=("tests",),
    ),
    Tree(
        name="mpi-plugin",
        levels=(
            "lower",
            "runtime",
            "link",
            "interpose shell",
            "handles",
            "handles/types",
            "handles/files",
            "handles/recipes",
            "cut",
            "cut/messages",
            "cut/collectives",
            "cut/image",
            "cut/service",
            "independent/log user non_mpi",
            "independent",
            "independent/calls",
            "wrap",
            "fortran cxx",
            "start lower/host",
        ),
        objects=("**/libckpt_mpi_so-*.o", "lower/**/*.o"),
        generated={
            "bindings": "wrap",
            "fortran_handles": "handles",
            "fortran_*": "fortran",
            "functions": "runtime",
            "predefined*": "handles",
            "wrappers_*": "wrap",
        },
        outside=("adapt", "adapt_*", "generate", "tests"),
        interposers=("interpose", "lower/host"),
        apart=("independent user non_mpi",),
    ),
    Tree(
        name="launcher",
        levels=(
            "common",
            "fabric input append membership protocol world image/io image/seal image/codec",
            "simulator image/model image/hdf5",
            "image/nodefile",
            "image/memory image/store",
            "image/write journal redundancy diagram restart",
            "settings",
            "image/pieces agent/base cli/base",
            "agent/links",
            "agent/messages",
            "agent/control agent/blocks",
            "agent/ranks",
            "agent/recovery",
            "agent/coordinator agent/supervision",
            "agent/ckptd supervise gather cli/launchers",
            "cli/files launch",
            "cli/jobs",
            "cli/run",
            "cli/commands fuzz",
        ),
        objects=("**/*.o",),
        outside=("tests",),
        interposers=("append",),
    ),
)


class Sources:
    """The files of a tree, the folder of each, and what each uses."""

    def __init__(self, tree, top, build):
        self.tree = tree
        self.top = Path(top).resolve() / tree.name
        self.build = Path(build).resolve() / tree.name
        self.level = {
            name: number for number, names in enumerate(tree.levels) for name in names.split()
        }
        self.paths = {}  # unit: its files
        for path in self._files():
            self.paths.setdefault(self._unit(path), []).append(path)
        self.folders = {unit: self._folder(unit) for unit in self.paths}

    def _files(self):
        found = [path for path in self.top.rglob("*") if path.suffix in SOURCES]
        found += [path for path in self.build.glob("*") if path.suffix in SOURCES]
        for path in sorted(found):
            first = Path(self._unit(path)).parts[0]
            if not any(fnmatchcase(first, pattern) for pattern in self.tree.outside):
                yield path

    def _relative(self, path):
        return path.relative_to(self.top if path.is_relative_to(self.top) else self.build)

    def _unit(self, path):
        return str(self._relative(path).with_suffix(""))

    def _folder(self, unit):
        """Returns the folder that the table names, or None."""
        if "/" not in unit:
            found = [
                folder
                for pattern, folder in self.tree.generated.items()
                if fnmatchcase(unit, pattern)
            ]
            return found[0] if found else None
        folders = [str(parent) for parent in Path(unit).parents]
        return next((folder for folder in folders if folder in self.level), None)

    def homeless(self):
        """Returns the files whose folder the table does not name."""
        return sorted(unit for unit, folder in self.folders.items() if folder is None)

    def includes(self):
        """Yields (unit, included unit) of this tree."""
        for unit, paths in self.paths.items():
            for path in paths:
                for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
                    target = self._included(path, name)
                    if target not in (None, unit):
                        yield unit, target

    def _included(self, path, name):
        """Returns the unit that a file of this tree includes by this name, or None."""
        for base in (path.parent, self.top, self.build):
            found = (base / name).resolve()
            if found.is_file():
                inside = found.is_relative_to(self.top) or found.is_relative_to(self.build)
                return self._unit(found) if inside and self._unit(found) in self.paths else None
        return None

    def _object_files(self):
        """Yields (unit, path) of the object files whose source exists."""
        for pattern in self.tree.objects:
            for path in sorted(self.build.glob(pattern)):
                unit = str(self._relative(path).with_name(path.stem.rpartition("-")[2]))
                sources = [source.suffix for source in self.paths.get(unit, ())]
                if not set(sources) <= {".h", ".hpp"}:  # else left by an earlier build
                    yield unit, path

    def symbols(self):
        """Returns {(unit, unit): names} of the symbols that one takes from the other."""
        objects = dict(self._object_files())
        if not objects:
            raise FileNotFoundError(f"no object files in {self.build}: build first")
        output = subprocess.run(
            ["nm", "-A", *objects.values()], capture_output=True, text=True, check=True
        ).stdout
        unit_of = {str(path): unit for unit, path in objects.items()}
        defined, wanted = defaultdict(set), defaultdict(set)
        for line in output.splitlines():
            path, _, rest = line.partition(":")
            kind, name = rest.split()[-2:]
            if kind == "U":
                wanted[name].add(unit_of[path])
            elif kind not in "vw" and (kind.isupper() or kind == "u"):
                defined[name].add(unit_of[path])
        taken = defaultdict(set)
        for name, users in wanted.items():
            if len(defined[name]) == 1:
                (owner,) = defined[name]
                if self.folders[owner] in self.tree.interposers and not name.startswith("ckpt_"):
                    continue
                for user in users - {owner}:
                    taken[user, owner].add(name)
        return taken


def _is_lower(sources, unit, other):
    """Returns whether `unit` may use `other`."""
    here, there = sources.folders[unit], sources.folders[other]
    if here == there:
        return True
    first, second = here.partition("/")[0], there.partition("/")[0]
    for names in sources.tree.apart:
        if first != second and {first, second} <= set(names.split()):
            return False
    return sources.level[there] < sources.level[here]


def upward(sources):
    """Returns {(from, to): what is used} of all uses that break the order."""
    found = defaultdict(set)
    for unit, other in sources.includes():
        found[unit, other].add("#include")
    for (unit, other), names in sources.symbols().items():
        found[unit, other] |= names
    return {
        (unit, other): sorted(names)
        for (unit, other), names in sorted(found.items())
        if sources.folders[unit] and sources.folders[other]
        if not _is_lower(sources, unit, other)
    }


def circles(edges):
    """Returns the sets of nodes that reach each other, the largest first (Tarjan 1972)."""
    following, number, low, stack, found = defaultdict(set), {}, {}, [], []
    for one, other in edges:
        following[one].add(other)

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        for other in following[node]:
            if other not in number:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], number[other])
        if low[node] == number[node]:
            place = stack.index(node)
            if len(stack) - place > 1:
                found.append(sorted(stack[place:]))
            del stack[place:]

    for node in list(following):
        if node not in number:
            visit(node)
    return sorted(found, key=len, reverse=True)


def largest_circles(sources):
    """Returns {folder: the object files of its largest circle}."""
    inside = defaultdict(list)
    for unit, other in sources.symbols():
        if sources.folders[unit] == sources.folders[other]:
            inside[sources.folders[unit]].append((unit, other))
    return {folder: (circles(edges) or [[]])[0] for folder, edges in inside.items()}


def complaints(sources):
    """Returns what breaks the rules of the tree, as lines of text."""
    tree, found = sources.tree, upward(sources)
    lines = [f"{unit}: the table names no folder of it" for unit in sources.homeless()]
    lines += [
        f"{unit} -> {other}: {' '.join(names)}"
        for (unit, other), names in found.items()
        if (unit, other) not in tree.allowed
    ]
    lines += [
        f"{unit} -> {other}: allowed, but not needed any more"
        for unit, other in tree.allowed
        if (unit, other) not in found
    ]
    for folder, files in sorted(largest_circles(sources).items()):
        limit = tree.circles[folder][0] if folder in tree.circles else LARGEST_CIRCLE
        if len(files) > limit:
            lines.append(f"{folder}: a circle of {len(files)}: {' '.join(files)}")
        elif folder in tree.circles and len(files) < limit:
            lines.append(f"{folder}: its circle has {len(files)} object files, not {limit}")
    return lines


def main():
    from .settings import BUILD, TOP  # not needed by the tests of this module

    failed = False
    for tree in TREES:
        sources = Sources(tree, TOP, sys.argv[1] if len(sys.argv) > 1 else BUILD)
        lines = complaints(sources)
        failed = failed or bool(lines)
        print(f"{tree.name}: {len(lines)}", *lines, sep="\n  ")
        for folder, files in largest_circles(sources).items():
            print(f"  largest circle of {folder}: {len(files)}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
