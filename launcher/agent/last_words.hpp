/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * last_words.hpp - what an agent that crashes still writes into its log: nobody else would
 * ever know why the ranks had to find another one.
 */
#pragma once

#include "common/fd.hpp"

namespace ckpt
{

/* From now on a signal of an error in the program, or an exception that nobody catches, writes
 * its name and the calls that led there, as addresses, to `log` before it ends the process as
 * it would without. Once for a process, in normal context. */
void write_last_words(Fd log);

} // namespace ckpt
