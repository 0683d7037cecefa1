/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * manifest.cpp - writes, reads and checks manifest.json.
 */
#include "config.h"
#include "image/store/manifest.hpp"

#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"
#include "common/json_bytes.hpp"
#include "image/seal/image_key.hpp"
#include "image/io/described_json.hpp"
#include "image/seal/sealed_text.hpp"

#include <algorithm>

namespace ckpt
{

namespace fs = std::filesystem;

namespace
{

constexpr int most_ranks = 1 << 20;
constexpr const char *seal_kind = "manifest";

bool is_encrypted_piece(const Piece &piece)
{
    return !piece.salt.empty();
}

} // namespace

/* ---- The fields of the file, docs/format.md ------------------------------ */

template <class Fields, SameAs<Piece> P>
void describe(Fields &fields, P &piece)
{
    fields.required("file", piece.file);
    fields.required("host", piece.host);
    fields.required("bytes", piece.bytes);
    fields.required("checksum", hexadecimal(piece.checksum));
    fields.required("ranks", piece.ranks);
    fields.required("shared", piece.shared);
    fields.optional("identity", hexadecimal(piece.identity));
    fields.optional("base", piece.base);
    fields.optional("base_identity", hexadecimal(piece.base_identity));
    fields.optional("salt", piece.salt);
}

template <class Fields, SameAs<Launch> L>
void describe(Fields &fields, L &launch)
{
    fields.required("launcher", launch.launcher);
    fields.required("launcher_directory", launch.launcher_directory);
    fields.required("application", launch.application);
    fields.added("waiting_parent", launch.waiting_parent);
    fields.required("environment", launch.environment);
    fields.required("facts", launch.facts);
}

template <class Fields, SameAs<Timings> T>
void describe(Fields &fields, T &timings)
{
    fields.required("request_to_stop", timings.request_to_stop);
    fields.required("stop", timings.stop);
    fields.required("drain", timings.drain);
    fields.required("capture", timings.capture);
}

/* All fields but "format". */
template <class Fields, SameAs<Manifest> M>
void describe(Fields &fields, M &manifest)
{
    fields.required("software", manifest.software);
    fields.required("job", manifest.job);
    fields.required("number", manifest.number);
    fields.required("created", date(manifest.created));
    fields.required("epoch", manifest.epoch);
    fields.required("hosts", manifest.hosts);
    fields.required("rank_count", manifest.rank_count);
    fields.added("protocol", manifest.protocol);
    fields.required("codec", manifest.codec);
    fields.added("snapshot", manifest.snapshot);
    fields.added("standing", manifest.standing);
    fields.required("pieces", manifest.pieces);
    fields.required("launch", manifest.launch);
    fields.required("seconds", manifest.timings);
    fields.added("cost", manifest.cost);
    fields.optional("files_mark", manifest.files_mark);
    fields.optional("replayed", manifest.replayed);
}

namespace
{

bool has_file_name(const Piece &piece)
{
    return !piece.file.empty() && !piece.file.starts_with('.') &&
           piece.file.find('/') == std::string::npos;
}

void require_file_names(const Manifest &manifest, const std::string &name)
{
    for (const Piece &piece : manifest.pieces) {
        if (!has_file_name(piece)) {
            fail("{}: '{}' is not a file name", name, piece.file);
        }
    }
}

/* Throws unless each rank from 0 to rank_count - 1 is in exactly one piece. */
void require_every_rank_once(const Manifest &manifest, const std::string &name)
{
    if (manifest.rank_count < 1 || manifest.rank_count > most_ranks) {
        fail("{}: {} ranks are impossible", name, manifest.rank_count);
    }
    std::vector<bool> seen(static_cast<std::size_t>(manifest.rank_count));
    for (const Piece &piece : manifest.pieces) {
        for (int rank : piece.ranks) {
            if (rank < 0 || rank >= manifest.rank_count) {
                fail("{}: {} has rank {}, but there are {} ranks", name,
                     piece.file, rank, manifest.rank_count);
            }
            if (seen[rank]) {
                fail("{}: rank {} is in two pieces", name, rank);
            }
            seen[rank] = true;
        }
    }
    auto missing = std::ranges::find(seen, false);
    if (missing != seen.end()) {
        fail("{}: rank {} is in no piece", name, missing - seen.begin());
    }
}

void require_known_ranks(const Manifest &manifest, const std::string &name)
{
    for (int rank : manifest.replayed) {
        if (rank < 0 || rank >= manifest.rank_count) {
            fail("{}: rank {} was replayed, but there are {} ranks", name, rank,
                 manifest.rank_count);
        }
    }
}

} // namespace

const Piece &Manifest::piece_of(int rank) const
{
    for (const Piece &piece : pieces) {
        if (std::ranges::find(piece.ranks, rank) != piece.ranks.end()) {
            return piece;
        }
    }
    fail("checkpoint {}/{} has no rank {}, only {} ranks", job, number, rank,
         rank_count);
}

std::uint64_t Manifest::bytes() const
{
    std::uint64_t sum = 0;
    for (const Piece &piece : pieces) {
        sum += piece.bytes;
    }
    return sum;
}

std::string Manifest::text() const
{
    JsonWriter writer;
    writer.required("format", manifest_version);
    describe(writer, *this);
    return dump_json(writer.json(), 2) + "\n"; /* arguments may hold any bytes */
}

Manifest Manifest::parse(const std::string &text, const std::string &name)
{
    JsonReader reader(JsonFields::parse(text, name));
    int version = 0;
    reader.required("format", version);
    if (version != manifest_version) {
        fail("{} was written by {} version {} of the format; this program "
             "reads version {}",
             name, version > manifest_version ? "a newer" : "an older", version,
             manifest_version);
    }
    Manifest manifest;
    describe(reader, manifest);
    require_file_names(manifest, name);
    require_every_rank_once(manifest, name);
    require_known_ranks(manifest, name);
    return manifest;
}

void Manifest::write(const fs::path &directory) const
{
    CKPT_EXPECT(number > 0 && rank_count > 0 && rank_count <= most_ranks);
    CKPT_EXPECT(std::ranges::all_of(pieces, has_file_name)); /* load() refuses others */
    write_text_file_atomically(directory / manifest_name, seal_text(text(), seal_kind),
                               "manifest");
}

Manifest Manifest::load(const fs::path &directory)
{
    fs::path path = directory / manifest_name;
    const std::string name = "manifest " + path.string();
    const Manifest manifest =
        parse(open_text(read_own_text_file(path, "manifest"), seal_kind, name), name);
    if (image_key() && !std::ranges::all_of(manifest.pieces, &is_encrypted_piece)) {
        fail("{} names a piece that was not made with the key", name);
    }
    return manifest;
}

bool Manifest::is_encrypted() const
{
    return std::ranges::any_of(pieces, &is_encrypted_piece);
}

} // namespace ckpt
