/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * status_view.hpp - the complete status of a running job, for people.
 */
#pragma once

#include "agent/control/control.hpp"

#include <string>
#include <vector>

namespace ckpt::cli
{

/* Returns the lines of a job's status. now: seconds since 1970. */
std::vector<std::string> status_view(const control::Status &status, double now);

/* Formats seconds since 1970 as "2026-01-31T12:00:00Z". */
std::string day_and_time(double seconds);

} // namespace ckpt::cli
