/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * background.hpp - threads whose work can wait.
 */
#pragma once

namespace ckpt
{

/* From now on this thread, and those that it starts, gets processors and disks when
 * nobody else wants them. */
void step_back();

/* From now on this thread, when it has a processor that somebody else wants back, leaves
 * it soon: a tenth of a millisecond, not some three. It gets as much as before, as far as
 * the kernel (Linux 6.12) knows this. */
void run_in_short_slices();

} // namespace ckpt
