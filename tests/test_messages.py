# SPDX-License-Identifier: BSD-3-Clause
"""The fields of messages between ranks and agents have names (libckpt/include/ckpt/messages.h)."""

import re

from ckpttest.settings import TOP

# Code for all messages alike may count their fields; code for one message names them.
FOR_ALL_MESSAGES = [
    "launcher/agent/messages/frames.cpp",
    "launcher/fuzz/frame_decoders.cpp",
    "launcher/tests/agent/test_hostile_peers.cpp",
    "launcher/tests/agent/test_rank_session.cpp",
    "libckpt/base/messages.c",
    "libckpt/tests/test_messages.cpp",
]
NUMBERED = re.compile(r"\barg\[|\barg(?:ument)?[0-9]\b|\b(?:as|body)(?:\.|->)field\[")


def numbered_fields(text):
    """Returns the lines that name a field of a message by its number."""
    return [line for line in text.splitlines() if NUMBERED.search(line)]


def test_no_code_numbers_the_fields_of_a_message():
    found, files = {}, 0
    for folder in ("launcher", "libckpt", "mpi-plugin"):
        for path in sorted((TOP / folder).rglob("*.[ch]*")):
            if path.suffix in (".c", ".h", ".cpp", ".hpp"):
                files += 1
                lines = numbered_fields(path.read_text(encoding="utf-8"))
                if lines:
                    found[str(path.relative_to(TOP))] = lines
    assert files > 700
    others = {name: lines for name, lines in found.items() if name not in FOR_ALL_MESSAGES}
    assert not others
    assert sorted(found) == sorted(FOR_ALL_MESSAGES)


def test_numbered_fields_are_found():
    for line in (
        "rank.place = message.arg[0];",
        "message->arg[3] = 1;",
        "message.as.field[2] = 1;",
        "send(type, epoch, argument0);",
    ):
        assert numbered_fields(line) == [line], line
    assert not numbered_fields("rank.place = message.as.report.place;")
    assert not numbered_fields("std::uint64_t page = message.arg.pagefault.address;")
