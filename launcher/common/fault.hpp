/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fault.hpp - places where a test can make something go wrong.
 *
 * CKPT_FAULT=NAME[:COUNT][@HOST] chooses one place; it strikes at the COUNT-th
 * time a process (of that host) reaches it (default: the first), once. What
 * happens there is up to the place: an error is reported as if the kernel had
 * given it, or the process kills itself. The list of names is in fault.cpp; those
 * that begin with "rank-" are for the plugin (ckpt/rank_faults.h).
 */
#pragma once

#include <string_view>

namespace ckpt
{

/* True if the fault `name`, which must be in the list, is to strike now. A
 * setting that names no known fault strikes nowhere. Thread-safe. */
bool fault_strikes(std::string_view name) noexcept;

/* If the fault strikes: ends this process at once with SIGKILL. */
void fault_kill(std::string_view name) noexcept;

/* Throws Error if CKPT_FAULT is set and names no known fault. */
void require_known_fault();

} // namespace ckpt
