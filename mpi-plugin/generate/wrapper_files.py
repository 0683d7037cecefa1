# SPDX-License-Identifier: BSD-3-Clause
"""Distributes the wrappers over files, one for each subject."""

import re
from dataclasses import dataclass

from fortran import FortranError, binding
from tables import banner
from wrappers import WrapperError, wrapper


@dataclass(frozen=True)
class _File:
    """One file of wrappers: the pattern of its functions, and its subject."""

    name: str
    pattern: str
    purpose: str


# The first pattern that matches the whole name decides.
_FILES = (
    _File("tool", r"T_.*", "the tool information interface (MPI 3.1, section 14.3)."),
    _File(
        "persistent",
        r"(Neighbor_)?([Bb]ar|[Bb]c|[Gg]ath|[Ss]cat|[Aa]llg|[Aa]llt|[Aa]llr|Reduce|Scan|Exscan).*_init",
        "persistent collectives (MPI 4.0, sections 6.13 and 8.8).",
    ),
    _File("neighbor", r"I?[Nn]eighbor_.*", "collectives of neighbours (MPI 3.1, section 7.6)."),
    _File(
        "collective",
        r"(Bar|Bc|Gath|Scat|Allg|Allt|Allr|Reduce(?!_local)|Scan|Exscan).*",
        "collective operations (MPI 3.1, chapter 5).",
    ),
    _File(
        "nonblocking",
        r"I(bar|bc|gath|scat|allg|allt|allr|reduce|scan|exscan).*",
        "nonblocking collectives (MPI 3.1, section 5.12).",
    ),
    _File(
        "file_access",
        r"File_i?(read|write).*",
        "reading and writing files (MPI 3.1, section 13.4).",
    ),
    _File("file", r"(File_|Register_datarep).*", "files (MPI 3.1, chapter 13)."),
    _File("window", r"Win_.*", "windows (MPI 3.1, sections 11.2 and 11.5)."),
    _File(
        "remote",
        r"R?(put|get|accumulate|get_accumulate)|Put|Get|Accumulate|Get_accumulate"
        r"|Fetch_and_op|Compare_and_swap",
        "access to the memory of others (MPI 3.1, section 11.3).",
    ),
    _File("type", r"(Type_|Pack|Unpack).*", "datatypes (MPI 3.1, chapter 4)."),
    _File("group", r"Group_.*", "groups (MPI 3.1, section 6.3)."),
    _File("info", r"Info_.*", "info objects (MPI 3.1, chapter 9)."),
    _File("topology", r"(Cart|Graph|Dist_graph|Topo|Dims).*", "topologies (MPI 3.1, chapter 7)."),
    _File("other", r".*", "everything else."),
)

_INCLUDES = """
#include "cut/collectives/collective.h"
#include "wrap/support.h"
#include "handles/attribute.h"
#include "handles/early_info.h"
#include "handles/files/file.h"
#include "handles/request.h"
#include "handles/window.h"
#include "independent/calls/entry.h"
#include "independent/calls/sync.h"
#include "wrap/persistent.h"
#include "handles/wrapper.h"

#include <stdlib.h>
"""


_FORTRAN_INCLUDES = """
#include "fortran/fortran.h"
#include "wrap/support.h"

#include <stdlib.h>

#pragma GCC visibility push(default)
"""


def _files(functions, prefix, includes, write):
    """Returns the texts of files, by name. write: makes an object with text() of a function."""
    chosen = {item: [] for item in _FILES}
    errors = []
    for name, function in functions.items():
        item = next(item for item in _FILES if re.fullmatch(item.pattern, name))
        try:
            chosen[item].append(write(function).text())
        except (WrapperError, FortranError) as error:
            errors.append(str(error))
    if errors:
        raise WrapperError(
            "not generated:\n  " + "\n  ".join(errors) + "\n"
            "Write them by hand (wrap/handwritten.txt, fortran/handwritten.txt)."
        )
    names = [f"{prefix}_{item.name}.c" for item in _FILES]
    return {
        name: "\n".join([banner(name, item.purpose) + includes, *chosen[item]])
        for name, item in zip(names, _FILES)
    }


def files(functions):
    """Returns all files of wrappers, by name; functions: Wrapped by name."""
    return _files(functions, "wrappers", _INCLUDES, wrapper)


def fortran_files(functions):
    """Returns all files of Fortran bindings, by name; functions: Wrapped by name."""
    texts = _files(functions, "fortran", _FORTRAN_INCLUDES, binding)
    del texts["fortran_tool.c"]  # MPI_T has no Fortran bindings
    return texts
