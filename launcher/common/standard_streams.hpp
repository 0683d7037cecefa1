/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * standard_streams.hpp - standard streams that somebody has closed.
 */
#pragma once

namespace ckpt
{

/* What is opened from here on has no number of a standard stream: what one would be written to
 * goes nowhere, and not into a file or a connection. A program that is executed finds
 * closed what was closed. For the start of a program. Throws Error. */
void hold_standard_streams();

} // namespace ckpt
