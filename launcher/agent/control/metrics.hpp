/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * metrics.hpp - metrics of jobs in the text format of Prometheus, version 0.0.4.
 */
#pragma once

#include "agent/control/control.hpp"

#include <string>
#include <vector>

namespace ckpt
{

/*
 * Returns one sample of each metric for each job that has a value, with the labels job and host.
 * Units are seconds and bytes. Unknown values are left out. now: seconds since 1970.
 */
std::string metrics_text(const std::vector<control::Status> &jobs, double now);

} // namespace ckpt
