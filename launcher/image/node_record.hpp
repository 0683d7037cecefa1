/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_record.hpp - notes, where all nodes see them, of a checkpoint whose pieces lie on
 * the nodes that have written them: JOB/nodes/NUMBER.json (docs/levels.md).
 */
#pragma once

#include "image/manifest.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <set>
#include <vector>

namespace ckpt
{

struct NodeRecord {
    Manifest manifest;
    std::filesystem::path directory; /* of the checkpoint, the same on each node */
    /* How the pieces protect each other, as redundancy/ says; null: they do not (yet). */
    nlohmann::json protection;

    /* Replaces that of the same number. job: directory of the job. Throws Error. */
    void write(const std::filesystem::path &job) const;
    /* Throws Error. */
    static NodeRecord load(const std::filesystem::path &job, std::uint64_t number);

    /* Of all records of a job, rising. Throws Error if they cannot be told. */
    static std::vector<std::uint64_t> numbers(const std::filesystem::path &job);
    /* Removes those with numbers below `end` but those that stay. Throws Error. */
    static void discard(const std::filesystem::path &job, std::uint64_t end,
                        const std::set<std::uint64_t> &stay);
    static void remove(const std::filesystem::path &job, std::uint64_t number);
};

} // namespace ckpt
