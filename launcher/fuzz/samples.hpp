/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * samples.hpp - valid contents of frames and files, which fuzzers and tests change.
 */
#pragma once

#include "agent/messages/frames.hpp"
#include "agent/messages/sweep_plan.hpp"
#include "image/store/manifest.hpp"

namespace ckpt::fuzz
{

using nlohmann::json;

inline json some_piece()
{
    Piece piece;

    piece.file = "node-n1.h5";
    piece.host = "n1";
    piece.ranks = {0, 1};
    return to_frame(piece);
}

inline json some_seen()
{
    RankSeen seen;

    seen.events.push_back({1, 2, CKPT_SEEN_LOGGED, 1});
    seen.sweep.push_back({0, 1, 2, true, 3});
    return to_frame(seen);
}

inline json some_plan()
{
    SweepPlan plan;

    plan.members = {{"n1", "1 n1", {{0, 1}}}, {"n2", "2 n2", {{2, 3}}}};
    plan.sides = {2};
    return to_frame(plan);
}

inline Manifest some_manifest()
{
    Manifest manifest;

    manifest.job = "job";
    manifest.number = 1;
    manifest.hosts = {"n1"};
    manifest.rank_count = 2;
    manifest.pieces = {{"node-n1.h5", "n1", 1000, 1, {0, 1}}};
    manifest.launch.launcher = {"mpirun"};
    manifest.launch.environment = {{"CKPT_KEEP", "2"}};
    return manifest;
}

} // namespace ckpt::fuzz
