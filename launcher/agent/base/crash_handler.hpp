/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * crash_handler.hpp - makes an agent that crashes write the reason into its log. Otherwise nothing
 * would explain why the ranks had to start another agent.
 */
#pragma once

#include "common/fd.hpp"

namespace ckpt
{

/* Installs handlers for the signals of program errors and for uncaught exceptions. A handler
 * writes the name and the calling functions, as addresses, to `log`. Then the process ends as it
 * would without the handler. Call once for a process, in normal context. */
void install_crash_handler(Fd log);

} // namespace ckpt
