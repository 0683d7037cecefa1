/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoints.cpp - from a user's word to a checkpoint, and its verification.
 */
#include "cli/checkpoints.hpp"

#include <algorithm>
#include <cerrno>

namespace fs = std::filesystem;

namespace ckpt::cli
{

namespace
{

/* True if the word is a path, and not the name of something in the store. */
bool is_path(const fs::path &directory, const std::string &word)
{
    return !word.empty() && fs::is_directory(word) &&
           (fs::path(word).is_absolute() || !fs::exists(directory / word));
}

/* The store in which a checkpoint lies, as DIR/JOB/NUMBER; else `fallback`. */
fs::path store_around(const Checkpoint &checkpoint, const fs::path &fallback)
{
    fs::path job = checkpoint.directory.parent_path();
    return job.filename() == checkpoint.job ? job.parent_path() : fallback;
}

} // namespace

std::optional<Store> open_store(const fs::path &directory)
{
    if (!fs::exists(directory)) {
        return std::nullopt;
    }
    return Store(directory);
}

Store require_store(const fs::path &directory)
{
    auto store = open_store(directory);
    if (!store) {
        stop_with(exit_not_found, "there is no checkpoint directory {}",
                  directory.string());
    }
    return *store;
}

FoundCheckpoint find_checkpoint(const fs::path &directory,
                                const std::string &word)
{
    try {
        if (is_path(directory, word)) {
            fs::path path = fs::canonical(word);
            Checkpoint found = Store(path.parent_path()).resolve(path);
            return {found, store_around(found, directory)};
        }
        return {Store(directory).resolve(word), directory};
    } catch (const Error &problem) {
        if (problem.code() == ENOENT) {
            throw CommandError(exit_not_found, problem.what());
        }
        throw;
    }
}

void verify_checkpoint(
    const Checkpoint &checkpoint, Verification how,
    const std::function<void(std::uint64_t, std::uint64_t)> &progress)
{
    if (how == Verification::none) {
        return;
    }
    std::uint64_t all = checkpoint.manifest->bytes();
    std::uint64_t before = 0;
    for (const Piece &piece : checkpoint.manifest->pieces) {
        NodeFileReader reader =
            open_piece(checkpoint.directory, *checkpoint.manifest, piece);
        if (how == Verification::full) {
            reader.verify([&](std::uint64_t done, std::uint64_t) {
                if (progress) {
                    progress(std::min(before + done, all), all);
                }
            });
        }
        before += piece.bytes;
    }
}

const char *state_name(Checkpoint::State state)
{
    switch (state) {
    case Checkpoint::State::committed:
        return "committed";
    case Checkpoint::State::incomplete:
        return "incomplete";
    case Checkpoint::State::damaged:
        break;
    }
    return "damaged";
}

} // namespace ckpt::cli
