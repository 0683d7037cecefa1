/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * status_view.hpp - all that is known of a running job, as a person wants to see it.
 */
#pragma once

#include "agent/control.hpp"

#include <string>
#include <vector>

namespace ckpt::cli
{

/* Lines of a view of the job. now: seconds since 1970. */
std::vector<std::string> status_view(const control::Status &status, double now);

/* "2026-01-31T12:00:00Z", of seconds since 1970. */
std::string day_and_time(double seconds);

} // namespace ckpt::cli
