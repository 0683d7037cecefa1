/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recovery.hpp - a process fails, and is what it was again.
 */
#pragma once

#include "system.hpp"

namespace model
{

/*
 * Process `failed` loses its memory, all that is on its way to it, and what of
 * its own messages is beyond the fraction `kept` (0 to 1) of each channel. It
 * is recovered from its newest checkpoint, its saved logs and the memory of the
 * others, none of which roll back. A Violation if it is not then as before.
 */
void fail_and_recover(System &system, int failed, double kept);

} // namespace model
