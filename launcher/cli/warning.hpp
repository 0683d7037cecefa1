/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * warning.hpp - signals by which a scheduler announces what it is about to do.
 */
#pragma once

#include <set>
#include <string>

namespace ckpt::cli
{

/* Signals by name: "USR1", "SIGTERM,SIGUSR2"; "": none. Of those that `ckpt run` takes.
 * Throws Error that names the first other word. */
std::set<int> parse_signals(const std::string &text);

} // namespace ckpt::cli
