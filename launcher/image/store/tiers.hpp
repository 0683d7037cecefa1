/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tiers.hpp - the directories of checkpoints: one, or a fast one from which they are copied to
 * a slow one (docs/tiers.md). Each has the form described in image/store/store.hpp.
 */
#pragma once

#include "image/store/store.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ckpt
{

/* The value of CKPT_DIR. */
struct TierDirectories {
    std::filesystem::path fast;
    std::filesystem::path slow; /* empty: there is only one tier */

    /* Parses "DIR" or "FAST,SLOW", and makes each absolute; "\," is a comma in a name. Throws
     * Error if that is impossible. */
    static TierDirectories parse(const std::string &text);
    std::string text() const;

    bool has_slow() const { return !slow.empty(); }
    /* Returns the directory that all nodes see. */
    const std::filesystem::path &lasting() const { return has_slow() ? slow : fast; }
    /* Whether `directory` is one of the two, by name only. Does not access the file system,
     * which may hang. */
    bool name(const std::filesystem::path &directory) const;
    /* Whether `directory` is one of the two, even under another name. */
    bool contains(const std::filesystem::path &directory) const;
    /* Returns identity_of() each that exists. */
    std::vector<std::string> identities() const;
};

/* All copies of the checkpoint with one number. */
struct TierCheckpoint {
    /* The copy to be used: a complete one in the fast tier, else in the slow tier, else the
     * one on the nodes, else an incomplete one. */
    Checkpoint checkpoint;
    bool is_in_fast = false, is_in_slow = false; /* complete, and visible from this host */
    std::optional<Checkpoint> on_nodes;
};

class Tiers
{
  public:
    /* Opens the directories that exist; returns nothing if none exists. */
    static std::optional<Tiers> open(const TierDirectories &directories);

    const TierDirectories &directories() const { return directories_; }
    const std::vector<Store> &stores() const { return stores_; }

    /* As in Store, for both tiers; job_state() is that of the last launch. */
    std::vector<std::string> jobs() const;
    std::optional<JobState> job_state(const std::string &job) const;
    bool is_live(const std::string &job) const;
    std::vector<TierCheckpoint> checkpoints(const std::string &job) const;
    std::optional<Checkpoint> newest_committed(const std::string &job) const;
    Checkpoint resolve(const std::string &word) const;

    /* Returns the job's directory that has the records of checkpoints on the nodes. */
    std::filesystem::path records(const std::string &job) const
    {
        return directories_.lasting() / job;
    }

  private:
    std::vector<Checkpoint> notes(const std::string &job) const;
    std::vector<Checkpoint> on_nodes(const std::string &job) const;
    std::optional<Checkpoint> resolve_on_nodes(const std::string &word) const;

    explicit Tiers(TierDirectories directories)
        : directories_(std::move(directories)) {}

    TierDirectories directories_;
    std::vector<Store> stores_; /* one or two; the fast tier first */
};

} // namespace ckpt
