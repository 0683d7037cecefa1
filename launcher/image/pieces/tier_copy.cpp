/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tier_copy.cpp - copies checkpoints from the fast tier to the slow tier.
 */
#include "config.h"
#include "image/pieces/tier_copy.hpp"

#include "common/error.hpp"
#include "common/fault_injection.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"
#include "image/store/checkpoint_files.hpp"
#include "image/store/checkpoint_trace.hpp"
#include "image/store/job_directory.hpp"
#include "image/store/store.hpp"

#include <algorithm>
#include <optional>

namespace ckpt
{

namespace fs = std::filesystem;

namespace
{

bool names(const Manifest &manifest, const std::string &file)
{
    return std::ranges::find(manifest.pieces, file, &Piece::file) != manifest.pieces.end();
}

/* Compares numbers and times only: pieces of one checkpoint can be folded in
 * one tier and not in the other. */
bool is_same_checkpoint(const Manifest &one, const Manifest &other)
{
    return one.number == other.number && one.created == other.created &&
           one.epoch == other.epoch;
}

/* Complete pieces in the slow tier are not copied again. */
std::vector<Piece> missing_pieces(const Manifest &manifest, const fs::path &to)
{
    std::vector<Piece> missing = manifest.pieces;
    if (!path_exists(to / manifest_name)) {
        return missing;
    }
    const Manifest there = Manifest::load(to);
    if (!is_same_checkpoint(there, manifest)) {
        fail("{} is another checkpoint of the same number", to.string());
    }
    std::erase_if(missing, [&](const Piece &piece) {
        return names(there, piece.file) && damage_of(piece, to).empty();
    });
    return missing;
}

} // namespace

void TierCopy::publish() const
{
    std::error_code error; /* a missing trace does not matter */
    fs::copy_file(from / trace_name, to / trace_name,
                  fs::copy_options::overwrite_existing, error);
    for (const Piece &piece : manifest.pieces) {
        if (std::string damage = damage_of(piece, to); !damage.empty()) {
            fail("{}: {}", to.string(), damage);
        }
    }
    fault_kill("agent-before-slow-manifest");
    require_sound();
    manifest.write(to);
    remove_files_without_use(to, manifest);
}

void remove_unpublished(const fs::path &directory) noexcept
{
    try {
        if (!path_exists(directory / manifest_name) &&
            is_job_directory(directory.parent_path())) {
            (void)remove_checkpoint_files(directory);
        }
    } catch (const Error &) { /* a later clean-up removes it as incomplete */
    }
}

std::set<std::uint64_t> chain_of(const fs::path &job, std::uint64_t number)
{
    std::set<std::uint64_t> chain = {number};
    for (auto next = chain.rbegin(); next != chain.rend(); ++next) {
        const fs::path directory = job / checkpoint_directory_name(*next);
        if (!path_exists(directory / manifest_name)) {
            continue;
        }
        for (const Piece &piece : Manifest::load(directory).pieces) {
            if (piece.base != 0 && piece.base < *next) {
                chain.insert(piece.base);
            }
        }
    }
    return chain;
}

std::vector<TierCopy> plan_tier_copies(const fs::path &fast, const fs::path &slow,
                                       std::uint64_t number)
{
    std::vector<TierCopy> copies;
    for (std::uint64_t next : chain_of(fast, number)) {
        TierCopy copy;
        copy.number = next;
        copy.from = fast / checkpoint_directory_name(next);
        copy.to = slow / checkpoint_directory_name(next);
        copy.manifest = Manifest::load(copy.from);
        copy.pieces = missing_pieces(copy.manifest, copy.to);
        if (!copy.pieces.empty()) {
            copies.push_back(std::move(copy));
        }
    }
    return copies;
}

} // namespace ckpt
