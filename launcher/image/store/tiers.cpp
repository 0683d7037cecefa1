/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tiers.cpp - treats one or two directories of checkpoints as one.
 */
#include "config.h"
#include "image/store/tiers.hpp"

#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"
#include "image/store/job_owner.hpp"
#include "image/seal/image_key.hpp"
#include "image/store/node_record.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

namespace ckpt
{

namespace fs = std::filesystem;

namespace
{

fs::path whole_path(const std::string &text)
{
    fs::path path = fs::absolute(text).lexically_normal();
    return path.has_filename() ? path : path.parent_path(); /* without a trailing slash */
}

bool is_inside(const fs::path &inner, const fs::path &outer)
{
    return std::ranges::mismatch(outer, inner).in1 == outer.end();
}

bool is_newer(const Checkpoint &one, const Checkpoint &other)
{
    CKPT_EXPECT(one.manifest && other.manifest);
    return one.job == other.job ? one.number > other.number
                                : one.manifest->created > other.manifest->created;
}

void take_newer(std::optional<Checkpoint> &best, std::optional<Checkpoint> other)
{
    if (other && (!best || is_newer(*other, *best))) {
        best = std::move(other);
    }
}

/* Splits at commas; "\," is a comma in a name. */
std::vector<std::string> split(const std::string &text)
{
    std::vector<std::string> names(1);

    for (std::size_t i = 0; i < text.size(); i++) {
        const bool is_escape = text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',';
        if (text[i] == ',') {
            names.emplace_back();
        } else {
            i += is_escape ? 1 : 0;
            names.back() += text[i];
        }
    }
    return names;
}

std::string escaped(const fs::path &directory)
{
    std::string text;

    for (const char letter : directory.string()) {
        text += letter == ',' ? "\\," : std::string(1, letter);
    }
    return text;
}

bool is_whole(const Checkpoint &checkpoint)
{
    return checkpoint.state == Checkpoint::State::committed;
}

} // namespace

TierDirectories TierDirectories::parse(const std::string &text)
{
    const std::vector<std::string> names = split(text);
    TierDirectories tiers;

    if (names.size() > 2 || (names.size() == 2 && (names[0].empty() || names[1].empty()))) {
        fail("'{}' is neither a directory nor FAST,SLOW", text);
    }
    tiers.fast = whole_path(names[0]);
    if (names.size() == 2) {
        tiers.slow = whole_path(names[1]);
        if (is_inside(tiers.slow, tiers.fast) || is_inside(tiers.fast, tiers.slow)) {
            fail("of {} and {} none may be in the other", tiers.fast.string(),
                 tiers.slow.string());
        }
    }
    return tiers;
}

std::string TierDirectories::text() const
{
    return has_slow() ? escaped(fast) + "," + escaped(slow) : escaped(fast);
}

bool TierDirectories::name(const fs::path &directory) const
{
    return directory == fast || (has_slow() && directory == slow);
}

bool TierDirectories::contains(const fs::path &directory) const
{
    std::error_code error;

    return name(directory) || fs::equivalent(fast, directory, error) ||
           (has_slow() && fs::equivalent(slow, directory, error));
}

std::vector<std::string> TierDirectories::identities() const
{
    std::vector<std::string> all;

    for (const fs::path &directory : {fast, slow}) {
        if (auto identity = identity_of(directory)) {
            all.push_back(std::move(*identity));
        }
    }
    return all;
}

std::optional<Tiers> Tiers::open(const TierDirectories &directories)
{
    Tiers tiers(directories);
    for (const fs::path &directory : {directories.fast, directories.slow}) {
        if (!directory.empty() && path_exists(directory)) {
            tiers.stores_.emplace_back(directory);
        }
    }
    CKPT_INVARIANT(tiers.stores_.size() <= 2);
    return tiers.stores_.empty() ? std::nullopt : std::optional(std::move(tiers));
}

std::vector<std::string> Tiers::jobs() const
{
    std::set<std::string> names;
    for (const Store &store : stores_) {
        for (std::string &name : store.jobs()) {
            names.insert(std::move(name));
        }
    }
    return {names.begin(), names.end()};
}

std::optional<JobState> Tiers::job_state(const std::string &job) const
{
    std::optional<JobState> last;
    for (const Store &store : stores_) {
        auto state = store.job_state(job);
        if (state && (!last || state->started > last->started)) {
            last = std::move(state);
        }
    }
    return last;
}

bool Tiers::is_live(const std::string &job) const
{
    try {
        return owner_of(records(job)).has_value();
    } catch (const Error &) {
        return true; /* unknown: the job may be alive */
    }
}

std::vector<TierCheckpoint> Tiers::checkpoints(const std::string &job) const
{
    std::map<std::uint64_t, TierCheckpoint> by_number;
    for (const Store &store : stores_) {
        const bool is_fast = store.directory() == directories_.fast;
        for (Checkpoint &checkpoint : store.checkpoints(job)) {
            auto [entry, is_new] = by_number.try_emplace(checkpoint.number);
            TierCheckpoint &there = entry->second;
            (is_fast ? there.is_in_fast : there.is_in_slow) = is_whole(checkpoint);
            if (is_new || (is_whole(checkpoint) && !is_whole(there.checkpoint))) {
                there.checkpoint = std::move(checkpoint);
            }
        }
    }
    for (Checkpoint &checkpoint : notes(job)) {
        const auto [entry, is_new] = by_number.try_emplace(checkpoint.number);
        TierCheckpoint &there = entry->second;
        if (checkpoint.is_useless()) {
            there.checkpoint = is_new ? std::move(checkpoint) : there.checkpoint;
            continue;
        }
        if (!there.is_in_fast && !there.is_in_slow) {
            there.checkpoint = checkpoint;
        }
        there.on_nodes = std::move(checkpoint);
    }
    std::vector<TierCheckpoint> all;
    for (auto &[number, checkpoint] : by_number) {
        /* where it is good in one place, its state in another one does not matter */
        CKPT_INVARIANT(is_whole(checkpoint.checkpoint) ||
                       (!checkpoint.is_in_fast && !checkpoint.is_in_slow && !checkpoint.on_nodes));
        all.push_back(std::move(checkpoint));
    }
    return all;
}

std::optional<Checkpoint> Tiers::newest_committed(const std::string &job) const
{
    std::optional<Checkpoint> newest;
    for (const Store &store : stores_) {
        take_newer(newest, store.newest_committed(job));
    }
    for (Checkpoint &checkpoint : on_nodes(job)) {
        take_newer(newest, std::move(checkpoint));
    }
    return newest;
}

namespace
{

/* Describes a checkpoint on the nodes from its record. */
Checkpoint noted(NodeRecord record)
{
    Checkpoint checkpoint;
    checkpoint.job = record.manifest.job;
    checkpoint.number = record.manifest.number;
    checkpoint.manifest = std::move(record.manifest);
    checkpoint.directory = std::move(record.directory);
    checkpoint.state = Checkpoint::State::committed;
    checkpoint.is_on_nodes = true;
    return checkpoint;
}

} // namespace

/* Returns the recorded checkpoints of a job on the nodes, by ascending number. An unreadable
 * record is ignored, because it may be in the course of removal. If there is a key, a record
 * that was not sealed with it counts as an unreadable checkpoint without further details. */
std::vector<Checkpoint> Tiers::notes(const std::string &job) const
{
    std::vector<Checkpoint> found;
    for (std::uint64_t number : NodeRecord::numbers(records(job))) {
        try {
            found.push_back(noted(NodeRecord::load(records(job), number)));
            found.back().job = job;
        } catch (const Error &error) {
            if (image_key() && error.code() != ENOENT) {
                Checkpoint &refused = found.emplace_back();
                refused.job = job;
                refused.number = number;
                refused.state = Checkpoint::State::unreadable;
                refused.reason = error.what();
            }
        }
    }
    return found;
}

/* Returns the recorded checkpoints that may be usable. */
std::vector<Checkpoint> Tiers::on_nodes(const std::string &job) const
{
    std::vector<Checkpoint> found = notes(job);
    std::erase_if(found, [](const Checkpoint &checkpoint) { return checkpoint.is_useless(); });
    return found;
}

/* Resolves "JOB/NUMBER", "JOB" or "", as Store::resolve(). */
std::optional<Checkpoint> Tiers::resolve_on_nodes(const std::string &word) const
{
    const std::string wanted = word.substr(0, word.find('/'));
    std::optional<Checkpoint> found;
    for (const std::string &job : wanted.empty() ? jobs() : std::vector{wanted}) {
        for (Checkpoint &checkpoint : on_nodes(job)) {
            if (word == wanted || word == checkpoint.name()) {
                take_newer(found, std::move(checkpoint));
            }
        }
    }
    return found;
}

/* A checkpoint that is good in one tier is usable, whatever its state in the other. */
Checkpoint Tiers::resolve(const std::string &word) const
{
    std::optional<Checkpoint> found;
    std::optional<Error> problem;
    for (const Store &store : stores_) {
        try {
            take_newer(found, store.resolve(word));
        } catch (const Error &error) {
            if (!problem || problem->code() == ENOENT) {
                problem = error;
            }
        }
    }
    if (auto there = resolve_on_nodes(word)) {
        take_newer(found, std::move(there));
    }
    if (!found) {
        CKPT_INVARIANT(problem);
        throw *problem;
    }
    return *found;
}

} // namespace ckpt
