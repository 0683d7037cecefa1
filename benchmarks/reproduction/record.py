# SPDX-License-Identifier: BSD-3-Clause
"""record.py - the file of results, whole after each run, so that a measurement that was
interrupted can go on."""

import json
import os

from .plan import Extent
from .subjects import Scale

FORMAT = "ckpt reproduction 1"


class UnsuitableFile(Exception):
    """Results that are no such results, or cannot be gone on with."""


class Record:
    """Results in memory and in their file."""

    def __init__(self, path, data):
        self.path = path
        self.data = data

    @classmethod
    def begin(cls, path, scale, extent, machine):
        """An empty one; replaces the file when the first run is added."""
        data = {
            "format": FORMAT,
            "scale": scale.as_data(),
            "extent": extent.as_data(),
            "sessions": [machine],
            "runs": [],
        }
        return cls(path, data)

    @classmethod
    def read(cls, path):
        """What a file holds."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UnsuitableFile(f"{path} cannot be read: {error}") from error
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise UnsuitableFile(f"{path} has no results of a reproduction")
        return cls(path, data)

    def resume(self, machine):
        """Goes on with it, on the same machine and with the same build."""
        first = self.data["sessions"][0]
        for fact in ("processor", "processors", "commit"):
            if first[fact] != machine[fact]:
                raise UnsuitableFile(
                    f"{self.path} was measured with {fact} {first[fact]};"
                    f" this is {machine[fact]}: begin another"
                )
        self.data["sessions"].append(machine)

    def scale(self):
        """How large everything was."""
        return Scale(**self.data["scale"])

    def extent(self):
        """What was to be measured."""
        known = self.data["extent"].items()
        return Extent(
            **{name: tuple(x) if isinstance(x, list) else x for name, x in known}
        )

    def find(self, key):
        """The result of a run, or None."""
        return next((run for run in self.data["runs"] if run["key"] == key), None)

    def is_done(self, run):
        """Whether it has been measured; what has failed is tried again."""
        found = self.find(run.key())
        return found is not None and "error" not in found

    def add(self, result):
        """In place of one with the same key; the file is old or new, never half."""
        others = [run for run in self.data["runs"] if run["key"] != result["key"]]
        self.data["runs"] = [*others, result]
        part = self.path.with_suffix(".part")
        with part.open("w", encoding="utf-8") as file:
            json.dump(self.data, file, indent=1)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        part.replace(self.path)

    def failures(self):
        """Results with an error."""
        return [run for run in self.data["runs"] if "error" in run]
