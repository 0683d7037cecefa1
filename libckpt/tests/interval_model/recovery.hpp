/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recovery.hpp - a process fails, and is restored to its state.
 */
#pragma once

#include "system.hpp"

namespace model
{

/*
 * Process `failed` loses its memory and all messages in flight to it. Of its
 * own messages, only the fraction `kept` (0 to 1) of each channel survives. It
 * is recovered from its newest checkpoint, its saved logs and the memory of the
 * others; none of them rolls back. If its state differs afterwards, that is a
 * Violation.
 */
void fail_and_recover(System &system, int failed, double kept);

} // namespace model
