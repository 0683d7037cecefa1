/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block_request.hpp - messages on a connection to a BlockServer: requests for ranges of files, and
 * the answers that precede the bytes (docs/levels.md).
 */
#pragma once

#include "fabric/endpoint.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace ckpt::redundancy
{

/* Longest text of a request or an answer, bytes. */
inline constexpr std::size_t longest_block_message = 4096;

struct BlockRequest {
    std::string path; /* JOB/NUMBER/FILE */
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0; /* 0: only the length of the file is wanted */
    std::string fabric;      /* provider with which the caller can read the file; empty: none */
};

void to_json(nlohmann::json &json, const BlockRequest &request);
/* Throws Rejected, or an exception of the JSON library. So does the other from_json. */
void from_json(const nlohmann::json &json, BlockRequest &request);

struct BlockAnswer {
    std::string error;      /* why the server sends nothing, or "" */
    std::uint64_t size = 0; /* length of the file */
    /* bytes of the range that the file has; they follow, in blocks */
    std::uint64_t bytes = 0;
    std::optional<fabric::Lent> lent; /* the file, if it is lent: only the tags of the blocks
                                         follow */
    /* why the file is not lent although the request names a fabric */
    std::string not_lent;
};

void to_json(nlohmann::json &json, const BlockAnswer &answer);
void from_json(const nlohmann::json &json, BlockAnswer &answer);

} // namespace ckpt::redundancy
