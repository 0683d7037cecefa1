# SPDX-License-Identifier: BSD-3-Clause
"""setting.py - an entry of table.py, and the checks of it at build time."""

import re
from dataclasses import dataclass

# Readers of a variable.
LAUNCHER = "launcher"  # the program ckpt
AGENT = "agent"  # ckptd
PROCESS = "process"  # the library in the application's process
RESTART = "restart"  # ckpt-restart and ckpt-gather
TESTS = "tests"  # test programs and scripts

# What becomes of a variable when the job is saved and restarted.
KEPT = "kept"  # recorded in the checkpoint; a restart hands it on
RECORDED = "recorded"  # recorded in the checkpoint; a restart does not hand it on
NEVER = "never"  # not even recorded: a secret, or of one launch

TYPES = {
    "auto_switch",
    "bytes",
    "codec",
    "directories",
    "duration",
    "duration_above_zero",
    "fabric",
    "flag",
    "granule",
    "interval",
    "job_name",
    "key",
    "levels",
    "number",
    "path",
    "protocol",
    "redundancy",
    "signals",
    "snapshot",
    "stagger",
    "text",
    "word",
}
COMMANDS = {
    "checkpoint",
    "ckptd",
    "gc",
    "inspect",
    "list",
    "migrate",
    "restart",
    "resume",
    "run",
    "status",
    "swap",
    "trace",
    "tune",
    "verify",
}
MOST = 2**32 - 1


@dataclass(frozen=True)
class Setting:
    """One setting: an option of one or several commands with its variable, or a variable only.

    letter    a second name of the option: "-s", or ""
    name      "--some-option", whose variable is CKPT_SOME_OPTION; or "CKPT_SOME_VARIABLE"
    on        the commands with this option. Settings of one name have different commands.
    type      decides what values are valid (values.cpp) and how they are handed on
    value     what help texts call the value; the unit is in `help`
    mdoc      the same for manual pages, if it differs
    default   the value if neither option nor variable is given; None: there is none
    implied   the value of the option without one; ckptd's option always has a value
    least, most  limits of a number
    words     the valid words of a "word"
    readers   who reads the variable
    restart   KEPT, RECORDED or NEVER
    help      one sentence for --help and for ckpt(7), without the default
    manual    text for the manual page in mdoc; names the default
    also      more text, by command, for its page only
    """

    name: str
    type: str
    readers: tuple
    restart: str
    manual: str
    help: str = ""
    on: tuple = ()
    value: str = ""
    mdoc: str = ""
    default: str = None
    implied: str = ""
    least: int = 0
    most: int = MOST
    words: tuple = ()
    required: bool = False
    letter: str = ""
    also: dict = None

    def __post_init__(self):
        self.require(self.type in TYPES, f"unknown type {self.type}")
        self.require(self.restart in (KEPT, RECORDED, NEVER), "restart is wrong")
        self.require(set(self.on) <= COMMANDS, "unknown command")
        self.require(bool(self.option) == bool(self.on), "an option is of commands")
        self.require(bool(self.option) == bool(self.help), "an option needs a help text")
        self.require((self.type == "word") == bool(self.words), "words are for type word")
        self.require((self.type == "flag") == (bool(self.option) and not self.value),
                     "all options except flags have a value")
        if self.default is not None:
            said = re.search(rf"(?<![\w.]){re.escape(self.default)}(?![\w])", self.manual)
            self.require(said, "the manual text does not name the default")

    def require(self, holds, problem):
        if not holds:
            raise ValueError(f"{self.name} ({', '.join(self.on)}): {problem}")

    @property
    def option(self):
        return self.name if self.name.startswith("--") else ""

    @property
    def variable(self):
        return f"CKPT_{self.name[2:].replace('-', '_').upper()}" if self.option else self.name


@dataclass(frozen=True)
class Internal:
    """A variable that ckpt sets for its own processes, or that only tests set."""

    name: str
    readers: tuple
    restart: str
    text: str
