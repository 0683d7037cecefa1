/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * group.hpp - nodes that protect each other's pieces of one checkpoint, and a
 * description of these pieces.
 *
 * A piece is treated as members - losses chunks of equal length; bytes beyond its end
 * are zeros (docs/levels.md).
 */
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace ckpt::redundancy
{

/* The length of a chunk is a multiple of this many bytes. */
inline constexpr std::uint64_t chunk_unit = 4096;

struct Member {
    std::string host;
    std::string file;        /* its piece: a file name in the checkpoint's directory */
    std::uint64_t bytes = 0; /* of the piece */

    bool operator==(const Member &) const = default;
};

struct Group {
    unsigned losses = 0;     /* number of members that may be lost */
    std::uint64_t chunk = 0; /* bytes per chunk; 0 if all pieces are empty */
    std::vector<Member> members;

    /* Computes the length of a chunk. Throws Error unless the group is valid: more
     * members than losses, on different hosts, with valid file names. */
    static Group make(unsigned losses, std::vector<Member> members);

    /* Returns the number of chunks of a piece, equal to that of data blocks in a
     * stripe. */
    unsigned chunks() const { return static_cast<unsigned>(members.size()) - losses; }

    bool operator==(const Group &) const = default;
};

void to_json(nlohmann::json &json, const Group &group);
/* Parses untrusted JSON: throws Error unless make() would return the same group. */
void from_json(const nlohmann::json &json, Group &group);

} // namespace ckpt::redundancy
