/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_garbage.cpp - compares the records of a job with the checkpoints on this node.
 */
#include "image/store/node_garbage.hpp"

#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/host.hpp"
#include "common/invariant.hpp"
#include "image/store/node_record.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace ckpt
{

namespace fs = std::filesystem;

namespace
{

/* All that this node knows of the checkpoint with one number. */
struct Found {
    std::optional<NodeRecord> record;
    bool is_unreadable = false;     /* its record exists but cannot be read */
    std::optional<Checkpoint> here; /* the checkpoint in this node's own directory */
    bool is_whole = false;          /* complete in a directory that this node sees */
};

using ByNumber = std::map<std::uint64_t, Found>;

void add_records(ByNumber &all, const fs::path &records)
{
    for (std::uint64_t number : NodeRecord::numbers(records)) {
        try {
            all[number].record = NodeRecord::load(records, number);
        } catch (const Error &) {
            all[number].is_unreadable = true;
        }
    }
}

/* Whether a record's directory is that of a checkpoint of this job; other directories are
 * not followed. */
bool is_place_of(const fs::path &directory, const std::string &job, std::uint64_t number)
{
    return directory.is_absolute() &&
           directory.filename() == checkpoint_directory_name(number) &&
           directory.parent_path().filename() == job;
}

/* Returns the node-local directories that the records name. Leaves out the directories
 * that the user has given, which are searched anyway. */
std::vector<Store> stores_here(const ByNumber &all, const Tiers &tiers, const std::string &job)
{
    std::set<fs::path> directories;
    for (const auto &[number, found] : all) {
        if (found.record && is_place_of(found.record->directory, job, number)) {
            directories.insert(found.record->directory.parent_path().parent_path());
        }
    }
    std::vector<Store> stores;
    for (const fs::path &directory : directories) {
        try {
            if (!tiers.directories().contains(directory)) {
                stores.emplace_back(directory);
            }
        } catch (const Error &) { /* not there, or not a directory of this user */
        }
    }
    return stores;
}

ByNumber look_at(const Tiers &tiers, const std::string &job)
{
    ByNumber all;

    add_records(all, tiers.records(job));
    for (const Store &store : stores_here(all, tiers, job)) {
        for (Checkpoint &checkpoint : store.checkpoints(job)) {
            Found &found = all[checkpoint.number];
            found.is_whole |= checkpoint.state == Checkpoint::State::committed;
            found.here = std::move(checkpoint);
        }
    }
    for (const TierCheckpoint &entry : tiers.checkpoints(job)) {
        all[entry.checkpoint.number].is_whole |= entry.is_in_fast || entry.is_in_slow;
    }
    return all;
}

/* Whether the checkpoint is usable, as far as this node can tell. */
bool is_sure(const Found &found)
{
    if (found.is_whole || !found.record) {
        return found.is_whole;
    }
    const std::string host = host_name();
    const auto &pieces = found.record->manifest.pieces;
    return !found.record->protection.is_null() &&
           std::ranges::all_of(pieces, [&](const Piece &piece) {
               return piece.host != host || damage_of(piece, found.record->directory).empty();
           });
}

Checkpoint noted(const NodeRecord &record, const std::string &job, std::uint64_t number)
{
    Checkpoint checkpoint;
    checkpoint.job = job;
    checkpoint.number = number;
    checkpoint.directory = record.directory;
    checkpoint.state = Checkpoint::State::committed;
    checkpoint.manifest = record.manifest;
    checkpoint.is_on_nodes = true;
    return checkpoint;
}

/* Removes the checkpoint's directory only if its name and place are those of a
 * checkpoint. */
std::vector<std::string> remove_directory(const Checkpoint &checkpoint)
{
    if (!is_place_of(checkpoint.directory, checkpoint.job, checkpoint.number) ||
        !path_exists(checkpoint.directory)) {
        return {};
    }
    return Store(checkpoint.directory.parent_path().parent_path())
        .remove(checkpoint.job, checkpoint.number);
}

} // namespace

NodeGarbage node_garbage(const Tiers &tiers, const std::string &job, std::size_t keep,
                         std::uint64_t used)
{
    CKPT_EXPECT(keep > 0); /* else a job could lose its last checkpoint */
    const ByNumber all = look_at(tiers, job);
    NodeGarbage garbage;
    std::size_t sure = 0;

    for (auto it = all.rbegin(); it != all.rend(); ++it) {
        const auto &[number, found] = *it;
        if (found.record && sure >= keep && number != used) {
            garbage.noted.push_back(noted(*found.record, job, number));
        } else if (found.record) {
            garbage.needed.insert(found.record->directory);
        } else if (found.here && !found.is_unreadable && number != used &&
                   sure >= (found.is_whole ? keep : 1)) { /* too old to be in progress */
            garbage.left.push_back(*found.here);
        }
        sure += is_sure(found) ? 1 : 0;
    }
    return garbage;
}

std::vector<std::string> remove_noted(const Tiers &tiers, const Checkpoint &checkpoint)
{
    NodeRecord::remove(tiers.records(checkpoint.job), checkpoint.number);
    return remove_directory(checkpoint);
}

std::vector<std::string> remove_left(const Checkpoint &checkpoint)
{
    return remove_directory(checkpoint);
}

} // namespace ckpt
