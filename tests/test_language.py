# SPDX-License-Identifier: BSD-3-Clause
"""Comments and documents are in plain technical English (CONTRIBUTING.md)."""

import collections

from ckpttest import language

MOST = 0.01  # share of sentences that have to be read twice, of all and in each folder


def test_few_sentences_have_to_be_read_twice():
    """The marks of such sentences are listed by tests/list-sentences."""
    counts, marked = collections.Counter(), collections.defaultdict(list)
    for sentence in language.sentences():
        for folder in ("", "/".join(sentence.path.parts[:2])):
            counts[folder] += 1
            if sentence.mark:
                marked[folder].append(f"{sentence.path}:{sentence.line}: {sentence.text}")
    assert counts[""] > 10000
    for folder, found in marked.items():
        assert len(found) <= max(3, MOST * counts[folder]), "\n".join(found)


def test_marks_are_found():
    """Each mark finds a sentence that has it, and none finds a plain one."""
    bad = [
        "Who holds the lock lets others by.",
        "This is what comes next from a rank.",
        "The process is no rank of the job.",
        "The list is made anew.",
        "It asks in vain.",
        "All but for the last rank are saved.",
        "The agent knows the number of these.",
        "It is open as ever.",
        "Nobody reads it.",
        "The newest one that is complete.",
    ]
    for text in bad:
        assert language.Sentence(None, 0, text).mark, text
    assert not language.Sentence(None, 0, "The agent closes the connection.").mark
