/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * space_time.hpp - the space-time diagram of a checkpoint, as Plank (1993,
 * section 2.3) draws it: time goes to the right, each rank has a line, the cut
 * crosses each of them once.
 */
#pragma once

#include "image/checkpoint_trace.hpp"

#include <string>

namespace ckpt::diagram
{

/* "Sync-and-Stop" for "sns"; an unknown name as it is. */
std::string protocol_title(const std::string &protocol);

/* An SVG text. If what is sent takes a small part of the time, that part has a
 * panel of its own. */
std::string space_time_diagram(const CheckpointTrace &trace);

} // namespace ckpt::diagram
