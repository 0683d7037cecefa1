/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * space_time.hpp - the space-time diagram of a checkpoint, in the form of Plank
 * (1993, section 2.3): time runs to the right, each rank has a line, and the
 * cut crosses each line once.
 */
#pragma once

#include "image/store/checkpoint_trace.hpp"

#include <string>

namespace ckpt::diagram
{

/* Returns "Sync-and-Stop" for "sns" and so on; returns an unknown name
 * unchanged. */
std::string protocol_title(const std::string &protocol);

/* Returns an SVG text. If the messages take only a small part of the time, that
 * part gets its own panel. */
std::string space_time_diagram(const CheckpointTrace &trace);

} // namespace ckpt::diagram
