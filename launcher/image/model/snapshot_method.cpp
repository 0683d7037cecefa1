/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * snapshot_method.cpp - names of the snapshot methods.
 */
#include "config.h"
#include "image/model/snapshot_method.hpp"

#include "common/error.hpp"

namespace ckpt
{

SnapshotMethod snapshot_method_from(std::string_view text)
{
    if (text == "stop") {
        return SnapshotMethod::stop;
    }
    if (text == "memory") {
        return SnapshotMethod::memory;
    }
    if (text == "cow") {
        return SnapshotMethod::cow;
    }
    if (text == "cll" || text == "auto") {
        return SnapshotMethod::cll;
    }
    fail("unknown snapshot method '{}'; there are stop, memory, cow, cll and auto", text);
}

std::string snapshot_method_name(SnapshotMethod method)
{
    switch (method) {
    case SnapshotMethod::memory:
        return "memory";
    case SnapshotMethod::cow:
        return "cow";
    case SnapshotMethod::cll:
        return "cll";
    default:
        return "stop";
    }
}

} // namespace ckpt
