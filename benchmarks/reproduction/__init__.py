# SPDX-License-Identifier: BSD-3-Clause
"""reproduction - chapter 4 of Plank's dissertation (1993) measured again."""
