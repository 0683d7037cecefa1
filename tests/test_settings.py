# SPDX-License-Identifier: BSD-3-Clause
"""The table of settings (launcher/settings/table.py) has every variable that the sources name, and
the agent refuses a wrong value."""

import re
import subprocess
import sys

import pytest

from ckpttest.settings import BUILD, TIMEOUT, TOP, environment

FOLDER = TOP / "launcher/settings"
LITERAL = re.compile(r'"(CKPT_[A-Z0-9_]+)[="]')  # in C and C++
NAMED = re.compile(r'(?:environ\.get\(|environ\[|\()"(CKPT_[A-Z0-9_]+)"|\b(CKPT_[A-Z0-9_]+)=')

# Names that tests have made up.
MADE_UP = {"CKPT_KEPT", "CKPT_OF_A_STRANGER"}


def table():
    """Returns the module table.py."""
    sys.path.insert(0, str(FOLDER))
    try:
        import table as module  # pylint: disable=import-error,import-outside-toplevel
    finally:
        sys.path.remove(str(FOLDER))
    return module


TABLE = table()
SETTINGS = {setting.variable for setting in TABLE.SETTINGS}
INTERNALS = {internal.name for internal in TABLE.INTERNALS}
KNOWN = SETTINGS | INTERNALS


def sources(*folders, endings):
    for folder in folders:
        for path in sorted((TOP / folder).rglob("*")):
            if path.suffix in endings and path.is_file():
                yield path


def literals(*folders):
    """Returns the variables that C and C++ files name, with one file of each."""
    found = {}
    for path in sources(*folders, endings={".c", ".h", ".cpp", ".hpp", ".in"}):
        for name in LITERAL.findall(path.read_text(encoding="utf-8")):
            found.setdefault(name, path)
    return found


def test_no_variable_is_unknown():
    unknown = {
        name: path.relative_to(TOP)
        for name, path in literals("libckpt", "mpi-plugin", "launcher", "apps").items()
        if name not in KNOWN | MADE_UP
    }
    assert unknown == {}


def test_no_variable_of_a_script_is_unknown():
    unknown = {}
    for path in sources("tests", "benchmarks", "mpi-plugin/tests", "apps", endings={".py"}):
        for names in NAMED.findall(path.read_text(encoding="utf-8")):
            name = names[0] or names[1]
            if name not in KNOWN | MADE_UP:
                unknown[name] = path.relative_to(TOP)
    assert unknown == {}


def test_the_table_says_what_processes_read():
    """Both directions: no variable of a process is missing, and no one is claimed without use."""
    here = {
        name
        for name, path in literals("libckpt", "mpi-plugin").items()
        if "tests" not in path.relative_to(TOP).parts
    }
    there = {
        entry.variable if hasattr(entry, "variable") else entry.name
        for entry in TABLE.SETTINGS + TABLE.INTERNALS
        if "process" in entry.readers
    }
    assert here == there


def test_no_entry_is_unused():
    used = set(literals("libckpt", "mpi-plugin", "launcher"))
    scripts = "".join(
        path.read_text(encoding="utf-8") for path in sources("tests", endings={".py"})
    ) + "".join(
        path.read_text(encoding="utf-8") for path in sources("mpi-plugin/tests", endings={".py"})
    )
    options = {setting.variable for setting in TABLE.SETTINGS if setting.option}
    unused = {name for name in KNOWN - used - options if name not in scripts}
    assert unused == set()


WRONG = {
    "CKPT_BARRIER_ALIGNED": ("maybe", "'maybe' is none of yes, no"),
    "CKPT_CODEC": ("gzip", "gzip"),
    "CKPT_DIR": ("a,b,c", "a,b,c"),
    "CKPT_FILE_LIMIT": ("much", "invalid number of bytes 'much'"),
    "CKPT_INTERVAL": ("soon", "'soon' is not a duration"),
    "CKPT_KEEP": ("0", "invalid number '0': expected a whole number from 1 on"),
    "CKPT_LOG_LEVEL": ("infos", "did you mean 'info'?"),
    "CKPT_POOL": ("12Q", "invalid number of bytes '12Q'"),
    "CKPT_PROTOCOL": ("tcp", "tcp is none of auto, sns, cl, ns and independent"),
    "CKPT_SIGNAL": ("65", "expected a whole number from 1 to 64"),
    "CKPT_SNAPSHOT": ("photo", "photo"),
    "CKPT_SWEEP_DIMENSIONS": ("33", "expected a whole number from 0 to 32"),
    "CKPT_WINDOWS": ("open", "'open' is none of staged, direct"),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_agent_refuses(name, tmp_path):
    """mpirun --tune passes variables on that no command has checked. Processes only read some of
    them; their agent refuses those, too."""
    value, problem = WRONG[name]
    done = subprocess.run(
        [BUILD / "launcher/ckptd", "--namespace", "none", "--foreground"],
        env=environment(**{"CKPT_RUN_DIR": tmp_path / "run", name: value}),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode != 0
    assert done.stderr.startswith(f"ckptd: {name}: "), done.stderr
    assert problem in done.stderr
    assert not (tmp_path / "run").exists()


def test_an_incomplete_entry_is_refused():
    """The mistakes that the build finds."""
    good = {"name": "--some", "type": "number", "readers": ("agent",), "restart": "kept"}
    good.update(on=("run",), value="N", default="3", help="Some", manual="The default is 3.\n")
    TABLE.Setting(**good)
    for change in (
        {"type": "integer"},
        {"on": ("runs",)},
        {"on": ()},
        {"help": ""},
        {"restart": "perhaps"},
        {"value": ""},
        {"words": ("a", "b")},
        {"manual": "The default is 30.\n"},
    ):
        with pytest.raises(ValueError):
            TABLE.Setting(**{**good, **change})
