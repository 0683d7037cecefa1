/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * piece_chain.cpp - incremental pieces and the pieces on which they build.
 */
#include "config.h"
#include "image/store/piece_chain.hpp"

#include "common/error.hpp"
#include "common/files/files.hpp"
#include "image/seal/image_key.hpp"
#include "image/store/store.hpp"

#include <algorithm>
#include <memory>

namespace ckpt
{

namespace fs = std::filesystem;

namespace
{

/* Returns the piece of `base` on which `piece` builds; null if it is not
 * there. */
const Piece *base_of(const Piece &piece, const Manifest &base)
{
    auto found = std::ranges::find(base.pieces, piece.base_identity, &Piece::identity);
    bool is_it = found != base.pieces.end() && found->ranks == piece.ranks;
    return is_it ? &*found : nullptr;
}

[[noreturn]] void fail_without_base(const Manifest &manifest, const Piece &piece)
{
    fail("{} of checkpoint {}/{} has only the changes since checkpoint {}/{}, which is missing "
         "beside it or different",
         piece.file, manifest.job, manifest.number, manifest.job, piece.base);
}

} // namespace

NodeFileReader open_piece(const fs::path &directory, const Manifest &manifest,
                          const Piece &piece, unsigned threads)
{
    ReaderOptions options;
    options.threads = threads;
    options.checksum = piece.checksum;
    options.salt = piece.salt;
    options.owner = fmt::format("{}/{}", manifest.job, checkpoint_directory_name(manifest.number));
    if (piece.base != 0) {
        fs::path beside =
            fs::canonical(directory).parent_path() / checkpoint_directory_name(piece.base);
        if (piece.base >= manifest.number || !path_exists(beside / manifest_name)) {
            fail_without_base(manifest, piece);
        }
        Manifest base = Manifest::load(beside);
        const Piece *under = base_of(piece, base);
        const bool is_of_job = !image_key() || base.job == manifest.job;
        if (under == nullptr || base.number != piece.base || !is_of_job) {
            fail_without_base(manifest, piece);
        }
        options.base = std::make_shared<const NodeFileReader>(
            open_piece(beside, base, *under, threads));
    }
    return NodeFileReader(directory / piece.file, options);
}

std::string missing_base(const Manifest &manifest, const ManifestOf &manifest_of)
{
    for (const Piece &piece : manifest.pieces) {
        if (piece.base == 0) {
            continue;
        }
        const Manifest *base =
            piece.base < manifest.number ? manifest_of(piece.base) : nullptr;
        if (base == nullptr || base_of(piece, *base) == nullptr) {
            return fmt::format("{} was made on top of checkpoint {}, which is missing",
                               piece.file, piece.base);
        }
    }
    return {};
}

} // namespace ckpt
