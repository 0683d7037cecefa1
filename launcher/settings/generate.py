# SPDX-License-Identifier: BSD-3-Clause
"""Writes what follows from the table of settings:

generate.py table FILE        the entries for settings.cpp
generate.py page INPUT FILE   a manual page; in INPUT three lines stand for generated text:
                              @synopsis@, @options@ (of the page's command) and @variables@
"""

import re
import sys
import textwrap
from pathlib import Path

from setting import AGENT, PROCESS
from table import INTERNALS, SETTINGS

WIDTH = 100


def quoted(text):
    """Returns a C++ string literal."""
    return '"' + (text or "").replace("\\", "\\\\").replace('"', '\\"') + '"'


def entry(setting):
    fields = [
        quoted(setting.option),
        quoted(setting.letter),
        quoted(setting.variable),
        quoted(" ".join(setting.on)),
        quoted(setting.value),
        quoted(setting.default),
        quoted(setting.implied),
        quoted(setting.help),
        f"Type::{setting.type}",
        f"{setting.least}u",
        f"{setting.most}u",
        quoted(" ".join(setting.words)),
        "true" if setting.required else "false",
        " | ".join(f"{reader}_reads" for reader in setting.readers),
        f"AfterRestart::{setting.restart}",
    ]
    return "    {" + ", ".join(fields) + "},\n"


def internal_entry(variable):
    return f"    {{{quoted(variable.name)}, AfterRestart::{variable.restart}}},\n"


def table():
    """Returns the bodies of the two arrays in settings.cpp."""
    return (
        "/* Made by generate.py from table.py. */\n"
        "constexpr Setting settings[] = {\n"
        + "".join(entry(setting) for setting in SETTINGS)
        + "};\nconstexpr Internal internals[] = {\n"
        + "".join(internal_entry(variable) for variable in INTERNALS)
        + "};\n"
    )


def argument(setting, command, opening, closing):
    """Returns the value of an option in mdoc."""
    if setting.type == "flag":
        return ""
    value = setting.mdoc or f"Ar {setting.value}"
    if setting.implied and command != "ckptd":
        value = f"Ns Oo = Ns {value} Oc"
    value = value.replace("Oo", opening).replace("Oc", closing)
    return f" {value.strip()}"


def of_command(command):
    return [setting for setting in SETTINGS if command in setting.on]


def synopsis(command):
    lines = []
    for setting in of_command(command):
        value = argument(setting, command, "Op", "")
        start = ".Fl" if setting.required else ".Op Fl"
        name = setting.letter[1:] or setting.option[1:]
        lines.append(f"{start} {name}{value}")
    return "\n".join(lines) + "\n"


def options(command):
    text = ""
    for setting in of_command(command):
        value = argument(setting, command, "Oo", "Oc")
        letter = f"Fl {setting.letter[1:]} , " if setting.letter else ""
        text += f".It {letter}Fl {setting.option[1:]}{value} , Ev {setting.variable}\n"
        text += setting.manual + (setting.also or {}).get(command, "")
    return text


def sentences(setting):
    """Returns the help text, and the default, as sentences of a manual page."""
    text = re.sub(r" \[(.*)\]$", r" (\1)", setting.help).replace("\\", "\\e") + "."
    lines = textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)
    if setting.default is not None:
        lines.append(f"The default is {setting.default}.")
    return "\n".join(lines) + "\n"


def variables():
    """Returns the variables that a user may pass to the ranks of a job."""
    text = ""
    for setting in SETTINGS:
        if not setting.option:
            text += f".It Ev {setting.variable}\n{setting.manual}"
        elif "tune" in setting.on and set(setting.readers) & {AGENT, PROCESS}:
            text += f".It Ev {setting.variable}\n{sentences(setting)}"
    return text


def page(source):
    command = re.sub(r"^ckpt-|\.[0-9]\.in$", "", source.name)
    text = source.read_text(encoding="utf-8")
    for mark, made in (
        ("@synopsis@\n", lambda: synopsis(command)),
        ("@options@\n", lambda: options(command)),
        ("@variables@\n", variables),
    ):
        if mark in text:
            text = text.replace(mark, made())
    return text


def require_unique():
    """A command has an option only once, the entries of one variable agree, and a variable is
    either internal or a setting."""
    seen = set()
    for setting in SETTINGS:
        for command in setting.on or ("",):
            setting.require((command, setting.name) not in seen, "is in the table twice")
            seen.add((command, setting.name))
    for setting in SETTINGS:
        first = next(other for other in SETTINGS if other.name == setting.name)
        agrees = all(
            getattr(first, field) == getattr(setting, field)
            for field in ("type", "default", "restart")
        )
        setting.require(agrees, "differs from the entry before in type, default or restart")
    names = [variable.name for variable in INTERNALS]
    for name in names:
        if names.count(name) > 1 or name in {setting.variable for setting in SETTINGS}:
            raise ValueError(f"{name} is in the table twice")


def main(words):
    require_unique()
    made = table() if words[0] == "table" else page(Path(words[1]))
    target = Path(words[-1])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
