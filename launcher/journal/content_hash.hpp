/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * content_hash.hpp - computes the hash of a file's content that the file journal records.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ckpt::journal
{

/* Returns the hash of the first `size` bytes of a file (CKPT_JOURNAL_HASHED); nothing if
 * the file is unreadable or shorter. */
std::optional<std::uint64_t> content_hash(const std::string &path, std::uint64_t size);

} // namespace ckpt::journal
