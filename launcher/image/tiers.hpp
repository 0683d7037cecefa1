/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tiers.hpp - the directories of checkpoints: one, or a fast one from which they are
 * copied to a slow one (docs/tiers.md). Both are as image/store.hpp says.
 */
#pragma once

#include "image/store.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ckpt
{

/* CKPT_DIR. */
struct TierDirectories {
    std::filesystem::path fast;
    std::filesystem::path slow; /* empty: there is none */

    /* "DIR" or "FAST,SLOW", each made absolute; "\," is a comma in a name. Throws Error if that
     * cannot be. */
    static TierDirectories parse(const std::string &text);
    std::string text() const;

    bool has_slow() const { return !slow.empty(); }
    /* The one that all nodes see. */
    const std::filesystem::path &lasting() const { return has_slow() ? slow : fast; }
    /* Is it one of them, by its name? Without a look at the file system, which may hang. */
    bool name(const std::filesystem::path &directory) const;
    /* Is it one of them? Also by another name. */
    bool contains(const std::filesystem::path &directory) const;
};

/* All that has one number. */
struct TierCheckpoint {
    Checkpoint checkpoint; /* the one to be used: whole, if one is; then the fast one;
                              that on the nodes if no other one is */
    bool is_in_fast = false, is_in_slow = false; /* whole, and to be seen from here */
    std::optional<Checkpoint> on_nodes;
};

class Tiers
{
  public:
    /* Those directories that are there; nothing if none is. */
    static std::optional<Tiers> open(const TierDirectories &directories);

    const TierDirectories &directories() const { return directories_; }
    const std::vector<Store> &stores() const { return stores_; }

    /* As in Store, of both; job_state() is that of the last launch. */
    std::vector<std::string> jobs() const;
    std::optional<JobState> job_state(const std::string &job) const;
    bool is_live(const std::string &job) const;
    std::vector<TierCheckpoint> checkpoints(const std::string &job) const;
    std::optional<Checkpoint> newest_committed(const std::string &job) const;
    Checkpoint resolve(const std::string &word) const;

    /* Where the notes of those on the nodes are; the directory of the job. */
    std::filesystem::path records(const std::string &job) const
    {
        return directories_.lasting() / job;
    }

  private:
    std::vector<Checkpoint> notes(const std::string &job) const;
    std::vector<Checkpoint> on_nodes(const std::string &job) const;
    std::optional<Checkpoint> resolve_on_nodes(const std::string &word) const;

    explicit Tiers(TierDirectories directories) : directories_(std::move(directories)) {}

    TierDirectories directories_;
    std::vector<Store> stores_; /* one or two, the fast one first */
};

} // namespace ckpt
