/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * standard_streams.hpp - keeps closed standard streams from being reused.
 */
#pragma once

namespace ckpt
{

/* Opens /dev/null for each closed standard stream, so that no file or connection opened later
 * gets its number. Otherwise output for the stream would go there. A program that is executed
 * later finds these streams closed again. Call at the start of a program. Throws Error. */
void hold_standard_streams();

} // namespace ckpt
