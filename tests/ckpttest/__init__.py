# SPDX-License-Identifier: BSD-3-Clause
"""ckpttest - runs MPI jobs with and without ckpt, kills and restarts them."""
