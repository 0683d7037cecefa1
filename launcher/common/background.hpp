/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * background.hpp - scheduling of threads whose work is not urgent.
 */
#pragma once

namespace ckpt
{

/* From now on this thread, and threads that it starts, get processors and disks with low
 * priority. */
void step_back();

/* From now on this thread leaves its processor soon when another thread needs it: after a tenth
 * of a millisecond, not about three. It gets as much processor time as before. Requires a kernel
 * with this setting (Linux 6.12). */
void run_in_short_slices();

} // namespace ckpt
