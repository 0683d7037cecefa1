# SPDX-License-Identifier: BSD-3-Clause
"""judging.py - conclusions, and how a rule decides whether costs agree with them.

A rule makes comparisons. Each is True, False, or None if the difference is within the noise. The
same rule is applied to the numbers of 1993, which shows how reliable it is.
"""

from dataclasses import dataclass
from typing import Callable

AGREES = "agrees"
DIFFERS = "does not agree"
UNDECIDED = "within the noise"
NOT_MEASURED = "not measured"

USUAL_SHARE = 0.75  # of the comparisons must hold
DECIDED = 1 / 3  # of the comparisons must be outside of the noise


@dataclass(frozen=True)
class Conclusion:
    """A statement of 1993 and the rule that judges it."""

    key: str
    figures: tuple
    statement: str
    rule: str  # in words; `compare` implements it
    compare: Callable  # Costs -> [True, False or None, ...]
    share: float = USUAL_SHARE


@dataclass(frozen=True)
class Judgement:
    """The judgement of a conclusion, for the costs of one machine."""

    verdict: str
    holds: int
    decided: int
    compared: int

    def in_words(self):
        """Returns the verdict with its evidence."""
        if self.verdict == NOT_MEASURED:
            return self.verdict
        noise = self.compared - self.decided
        if not self.decided:
            return f"{self.verdict} (all {noise} comparisons)"
        rest = f", {noise} within the noise" if noise else ""
        return f"{self.verdict} ({self.holds} of {self.decided} hold{rest})"


def judge(conclusion, costs):
    """Returns the Judgement."""
    found = list(conclusion.compare(costs))
    decided = [one for one in found if one is not None]
    if not found:
        verdict = NOT_MEASURED
    elif len(decided) < DECIDED * len(found):
        verdict = UNDECIDED
    else:
        holds = sum(decided) >= conclusion.share * len(decided)
        verdict = AGREES if holds else DIFFERS
    return Judgement(verdict, sum(decided), len(decided), len(found))


def known(*quantities):
    """Whether all of them have been measured."""
    return all(quantity is not None for quantity in quantities)
