/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * metrics.hpp - what is known of jobs, for Prometheus: its text format, version 0.0.4.
 */
#pragma once

#include "agent/control.hpp"

#include <string>
#include <vector>

namespace ckpt
{

/*
 * One sample of each metric for each job that has it, told apart by the labels job and
 * host. Seconds and bytes. What is not known is left out. now: seconds since 1970.
 */
std::string metrics_text(const std::vector<control::Status> &jobs, double now);

} // namespace ckpt
