/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * piece_fold.cpp - merges an incremental piece with its bases.
 */
#include "config.h"
#include "image/pieces/piece_fold.hpp"

#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"
#include "image/store/piece_chain.hpp"
#include "image/store/store.hpp"

#include <algorithm>

namespace ckpt
{

namespace fs = std::filesystem;

namespace
{

Piece *find_piece(Manifest &manifest, std::uint64_t identity)
{
    auto found = std::ranges::find(manifest.pieces, identity, &Piece::identity);
    return found == manifest.pieces.end() ? nullptr : &*found;
}

} // namespace

Piece PieceFold::run()
{
    Manifest manifest = Manifest::load(directory_);
    const Piece *piece = find_piece(manifest, identity_);
    if (piece == nullptr) {
        fail("there is nothing to be folded in {}", directory_.string());
    }
    NodeFileReader reader = open_piece(directory_, manifest, *piece, 1);
    options_.identity = identity_;
    options_.base = {};
    options_.file = whole_file_name(piece->host);
    {
        std::lock_guard lock(mutex_);
        if (cancelled_) {
            fail("folding was cancelled");
        }
        writer_ = std::make_unique<NodeFileWriter>(directory_, piece->host, options_);
    }
    for (int rank : reader.ranks()) {
        writer_->copy(reader, rank);
    }
    Piece folded = writer_->commit();
    CKPT_INVARIANT(folded.base == 0 && folded.identity == identity_);
    folded.shared = piece->shared;
    return folded;
}

void PieceFold::cancel()
{
    std::lock_guard lock(mutex_);
    cancelled_ = true;
    if (writer_) {
        writer_->cancel();
    }
}

void replace_piece(const fs::path &directory, const Piece &folded)
{
    std::string useless = folded.file;
    if (path_exists(directory / manifest_name)) {
        Manifest manifest = Manifest::load(directory);
        Piece *place = find_piece(manifest, folded.identity);
        if (place != nullptr && place->file != folded.file) {
            useless = place->file;
            require_sound();
            *place = folded;
            manifest.write(directory);
        }
    }
    fs::remove(directory / useless);
}

} // namespace ckpt
