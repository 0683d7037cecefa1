/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_record.hpp - the record of a checkpoint whose pieces are on the nodes that wrote
 * them: JOB/nodes/NUMBER.json in a directory that all nodes see (docs/levels.md).
 */
#pragma once

#include "image/store/manifest.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <set>
#include <vector>

namespace ckpt
{

struct NodeRecord {
    Manifest manifest;
    std::filesystem::path directory; /* of the checkpoint; the same path on each node */
    /* How the pieces protect each other, in the form of redundancy/; null: they are not
     * protected (yet). */
    nlohmann::json protection;

    /* Writes the record; replaces an existing one of the same number. job: directory of
     * the job. Throws Error. */
    void write(const std::filesystem::path &job) const;
    /* Throws Error. */
    static NodeRecord load(const std::filesystem::path &job, std::uint64_t number);

    /* Returns the numbers of all records of a job, ascending. Throws Error if they cannot
     * be listed. */
    static std::vector<std::uint64_t> numbers(const std::filesystem::path &job);
    /* Removes the records with numbers below `end`, except those in `stay`. Throws
     * Error. */
    static void discard(const std::filesystem::path &job, std::uint64_t end,
                        const std::set<std::uint64_t> &stay);
    static void remove(const std::filesystem::path &job, std::uint64_t number);
};

} // namespace ckpt
