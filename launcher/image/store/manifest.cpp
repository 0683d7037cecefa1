/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * manifest.cpp - writes, reads and checks manifest.json.
 */
#include "config.h"
#include "image/store/manifest.hpp"

#include "common/durations.hpp"
#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/json_bytes.hpp"
#include "image/seal/image_key.hpp"
#include "image/io/json_fields.hpp"
#include "image/seal/sealed_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace ckpt
{

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace
{

constexpr int most_ranks = 1 << 20;
constexpr const char *seal_kind = "manifest";

bool is_encrypted_piece(const Piece &piece)
{
    return !piece.salt.empty();
}

std::string checksum_text(std::uint64_t checksum)
{
    return fmt::format("{:016x}", checksum);
}

std::uint64_t parse_checksum(const std::string &text, const std::string &name)
{
    bool sane = text.size() == 16 &&
                text.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!sane) {
        fail("{}: '{}' is not a checksum", name, text);
    }
    return std::stoull(text, nullptr, 16);
}

Json piece_json(const Piece &piece)
{
    Json json = {{"file", piece.file},
                 {"host", piece.host},
                 {"bytes", piece.bytes},
                 {"checksum", checksum_text(piece.checksum)},
                 {"ranks", piece.ranks},
                 {"shared", piece.shared}};
    if (piece.identity != 0) {
        json["identity"] = checksum_text(piece.identity);
    }
    if (piece.base != 0) {
        json["base"] = piece.base;
        json["base_identity"] = checksum_text(piece.base_identity);
    }
    if (!piece.salt.empty()) {
        json["salt"] = piece.salt;
    }
    return json;
}

std::uint64_t identity_if_there(const JsonFields &fields, const char *name)
{
    std::string text;
    fields.get_if_there(name, text);
    return text.empty() ? 0 : parse_checksum(text, fields.name());
}

Piece parse_piece(const JsonFields &fields)
{
    Piece piece;
    fields.get("file", piece.file);
    fields.get("host", piece.host);
    fields.get("bytes", piece.bytes);
    fields.get("ranks", piece.ranks);
    fields.get("shared", piece.shared);
    std::string checksum;
    fields.get("checksum", checksum);
    piece.checksum = parse_checksum(checksum, fields.name());
    piece.identity = identity_if_there(fields, "identity");
    fields.get_if_there("base", piece.base);
    piece.base_identity = identity_if_there(fields, "base_identity");
    fields.get_if_there("salt", piece.salt);
    if (piece.file.empty() || piece.file.starts_with('.') ||
        piece.file.find('/') != std::string::npos) {
        fail("{}: '{}' is not a file name", fields.name(), piece.file);
    }
    return piece;
}

Json launch_json(const Launch &launch)
{
    return {{"launcher", launch.launcher},
            {"launcher_directory", launch.launcher_directory},
            {"application", launch.application},
            {"waiting_parent", launch.waiting_parent},
            {"environment", launch.environment},
            {"facts", launch.facts}};
}

Launch parse_launch(const JsonFields &fields)
{
    Launch launch;
    fields.get("launcher", launch.launcher);
    fields.get("launcher_directory", launch.launcher_directory);
    fields.get("application", launch.application);
    fields.get_if_there("waiting_parent", launch.waiting_parent);
    fields.get("environment", launch.environment);
    fields.get("facts", launch.facts);
    return launch;
}

Json timings_json(const Timings &timings)
{
    return {{"request_to_stop", timings.request_to_stop},
            {"stop", timings.stop},
            {"drain", timings.drain},
            {"capture", timings.capture}};
}

Timings parse_timings(const JsonFields &fields)
{
    Timings timings;
    fields.get("request_to_stop", timings.request_to_stop);
    fields.get("stop", timings.stop);
    fields.get("drain", timings.drain);
    fields.get("capture", timings.capture);
    return timings;
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
    Json json = {{"format", manifest_version},
                 {"software", software},
                 {"job", job},
                 {"number", number},
                 {"created", format_time(created)},
                 {"epoch", epoch},
                 {"hosts", hosts},
                 {"rank_count", rank_count},
                 {"protocol", protocol},
                 {"codec", codec},
                 {"snapshot", snapshot},
                 {"standing", standing},
                 {"pieces", Json::array()},
                 {"launch", launch_json(launch)},
                 {"seconds", timings_json(timings)},
                 {"cost", Json(nlohmann::json(cost))}};
    if (files_mark != 0) {
        json["files_mark"] = files_mark;
    }
    if (!replayed.empty()) {
        json["replayed"] = replayed;
    }
    for (const Piece &piece : pieces) {
        json["pieces"].push_back(piece_json(piece));
    }
    return dump_json(json, 2) + "\n"; /* arguments may hold any bytes */
}

Manifest Manifest::parse(const std::string &text, const std::string &name)
{
    JsonFields fields = JsonFields::parse(text, name);
    int version = 0;
    fields.get("format", version);
    if (version != manifest_version) {
        fail("{} was written by {} version {} of the format; this program "
             "reads version {}",
             name, version > manifest_version ? "a newer" : "an older", version,
             manifest_version);
    }
    Manifest manifest;
    std::string created;
    fields.get("software", manifest.software);
    fields.get("job", manifest.job);
    fields.get("number", manifest.number);
    fields.get("created", created);
    fields.get("epoch", manifest.epoch);
    fields.get("hosts", manifest.hosts);
    fields.get("rank_count", manifest.rank_count);
    fields.get_if_there("protocol", manifest.protocol);
    fields.get("codec", manifest.codec);
    fields.get_if_there("snapshot", manifest.snapshot);
    fields.get_if_there("standing", manifest.standing);
    fields.get_if_there("replayed", manifest.replayed);
    fields.get_if_there("files_mark", manifest.files_mark);
    try {
        manifest.created = parse_time(created);
    } catch (const Error &error) {
        fail("{}: field 'created': {}", name, error.what());
    }
    for (const JsonFields &piece : fields.list("pieces")) {
        manifest.pieces.push_back(parse_piece(piece));
    }
    manifest.launch = parse_launch(fields.object("launch"));
    manifest.timings = parse_timings(fields.object("seconds"));
    fields.get_if_there("cost", manifest.cost);
    require_every_rank_once(manifest, name);
    require_known_ranks(manifest, name);
    return manifest;
}

void Manifest::write(const fs::path &directory) const
{
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
