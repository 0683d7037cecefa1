/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fault_injection.hpp - places where a test can inject a fault.
 *
 * CKPT_FAULT=NAME[:COUNT][@HOST] chooses one place. The fault strikes once, at the COUNT-th time
 * that a process (on that host) reaches the place (default: the first). The place defines the
 * effect: it reports an error as if the kernel had returned it, or the process kills itself. The
 * list of names is in fault_injection.cpp. Names that begin with "rank-" are for the plugin
 * (ckpt/rank_faults.h).
 */
#pragma once

#include <string_view>

namespace ckpt
{

/* Returns true if the fault `name`, which must be in the list, strikes now.
 * A setting with an unknown name strikes nowhere. Thread-safe. */
bool fault_strikes(std::string_view name) noexcept;

/* Ends this process at once with SIGKILL if the fault strikes. */
void fault_kill(std::string_view name) noexcept;

/* Throws Error if CKPT_FAULT is set to an unknown fault. */
void require_known_fault();

} // namespace ckpt
