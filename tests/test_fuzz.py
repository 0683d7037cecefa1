# SPDX-License-Identifier: BSD-3-Clause
"""Bad arguments to every MPI function: a short version of the campaign."""

from ckpttest import fuzz


def test_bad_arguments(lab):
    different, _, compared, _ = fuzz.run_fuzz(lab, every=11)
    assert compared > 300
    assert not different, "\n".join(different)
