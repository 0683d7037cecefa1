/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_text.hpp - the trace of a checkpoint as tables: when each rank was cut
 * and how long it stood still, and how many messages that took.
 */
#pragma once

#include "image/checkpoint_trace.hpp"

#include <string>

namespace ckpt::cli
{

/* For people; with a newline at the end. Throws Error if the mesh that the
 * trace tells of is impossible. */
std::string trace_text(const CheckpointTrace &trace);

} // namespace ckpt::cli
