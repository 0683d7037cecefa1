/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block_request.hpp - what is said on a connection to a BlockServer: requests for ranges
 * of files, and the answers before their bytes (docs/levels.md).
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
    std::string fabric; /* provider with which it would be read; empty: none */
};

void to_json(nlohmann::json &json, const BlockRequest &request);
/* Throws Refused or what the JSON library does, like the other one. */
void from_json(const nlohmann::json &json, BlockRequest &request);

struct BlockAnswer {
    std::string error;       /* why there is nothing; else empty, and */
    std::uint64_t size = 0;  /* length of the file */
    std::uint64_t bytes = 0; /* that follow, in blocks: what it has of the range */
    std::optional<fabric::Lent> lent; /* the file: only the tags of these blocks follow */
    std::string not_lent; /* why not, if it was asked for and there is something to lend */
};

void to_json(nlohmann::json &json, const BlockAnswer &answer);
void from_json(const nlohmann::json &json, BlockAnswer &answer);

} // namespace ckpt::redundancy
