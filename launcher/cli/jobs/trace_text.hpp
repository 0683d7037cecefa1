/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_text.hpp - formats the trace of a checkpoint as tables: when each rank
 * was cut, how long it was stopped, and how many messages the protocol needed.
 */
#pragma once

#include "image/store/checkpoint_trace.hpp"

#include <string>

namespace ckpt::cli
{

/* Returns text for people, with a newline at its end. Throws Error if the mesh
 * in the trace is invalid. */
std::string trace_text(const CheckpointTrace &trace);

} // namespace ckpt::cli
