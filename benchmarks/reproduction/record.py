# SPDX-License-Identifier: BSD-3-Clause
"""record.py - the file of results. It is complete after each run, so that an
interrupted measurement can continue."""

import json
import os

from .plan import Extent
from .subjects import Scale

FORMAT = "ckpt reproduction 1"


class UnsuitableFile(Exception):
    """The file is not a valid file of results, or cannot be continued."""


class Record:
    """Results in memory and in their file."""

    def __init__(self, path, data):
        self.path = path
        self.data = data

    @classmethod
    def begin(cls, path, scale, extent, machine):
        """Returns an empty record; it replaces the file when the first run is added."""
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
        """Returns the record in a file."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UnsuitableFile(f"{path} cannot be read: {error}") from error
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise UnsuitableFile(f"{path} has no results of a reproduction")
        return cls(path, data)

    def resume(self, machine):
        """Continues the record, on the same machine and with the same build."""
        first = self.data["sessions"][0]
        for fact in ("processor", "processors", "commit"):
            if first[fact] != machine[fact]:
                raise UnsuitableFile(
                    f"{self.path} was measured with {fact} {first[fact]};"
                    f" this is {machine[fact]}: begin another"
                )
        self.data["sessions"].append(machine)

    def scale(self):
        """Returns the scale of everything."""
        return Scale(**self.data["scale"])

    def extent(self):
        """Returns the planned measurements."""
        known = self.data["extent"].items()
        return Extent(
            **{name: tuple(x) if isinstance(x, list) else x for name, x in known}
        )

    def find(self, key):
        """Returns the result of a run, or None."""
        return next((run for run in self.data["runs"] if run["key"] == key), None)

    def is_done(self, run):
        """Whether it has been measured; failed runs are tried again."""
        found = self.find(run.key())
        return found is not None and "error" not in found

    def add(self, result):
        """Adds a result, or replaces the one with the same key; the file is old or new,
        never partial."""
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
        """Returns the results with an error."""
        return [run for run in self.data["runs"] if "error" in run]
