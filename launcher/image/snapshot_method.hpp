/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * snapshot_method.hpp - how long a rank stands still while it is saved (Plank 1993,
 * chapter 3).
 */
#pragma once

#include <string>
#include <string_view>

namespace ckpt
{

enum class SnapshotMethod {
    stop,   /* until its memory is compressed and on its way to the file */
    memory, /* until it is copied into the agent's memory */
    cow,    /* until there is a copy of the process that shares its pages */
    cll,    /* until its pages are write-protected */
};

/* "stop", "memory", "cow", "cll", or "auto", which is cll; throws Error on anything else.
 * A rank whose memory cannot be protected is saved with cow, one that cannot be copied
 * with stop, whatever was asked for. */
SnapshotMethod snapshot_method_from(std::string_view text);

/* "stop", "memory", "cow" or "cll". */
std::string snapshot_method_name(SnapshotMethod method);

} // namespace ckpt
