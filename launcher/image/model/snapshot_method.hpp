/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * snapshot_method.hpp - how long a rank is stopped while it is saved (Plank 1993, chapter
 * 3).
 */
#pragma once

#include <string>
#include <string_view>

namespace ckpt
{

enum class SnapshotMethod {
    stop,   /* until all of its memory has been read for the file */
    memory, /* until its memory is copied into the agent's memory */
    cow,    /* until a copy of the process exists that shares its pages */
    cll,    /* until its pages are write-protected */
};

/* Parses "stop", "memory", "cow", "cll", or "auto", which means cll; throws Error on
 * anything else. A rank whose memory cannot be protected is saved with cow, and a rank
 * that cannot be copied with stop. */
SnapshotMethod snapshot_method_from(std::string_view text);

/* "stop", "memory", "cow" or "cll". */
std::string snapshot_method_name(SnapshotMethod method);

} // namespace ckpt
