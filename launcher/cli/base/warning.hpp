/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * warning.hpp - signals by which a scheduler announces an action.
 */
#pragma once

#include <set>
#include <string>

namespace ckpt::cli
{

/* Parses names of signals: "USR1", "SIGTERM,SIGUSR2"; "": none. Accepts only signals
 * that `ckpt run` handles. Throws Error naming the first invalid word. */
std::set<int> parse_signals(const std::string &text);

} // namespace ckpt::cli
