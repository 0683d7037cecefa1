/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * content_hash.hpp - the hash of a file's content as the file journal records it.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ckpt::journal
{

/* The hash of the first `size` bytes of a file (CKPT_JOURNAL_HASHED). None if it cannot be
 * read, or is shorter. */
std::optional<std::uint64_t> content_hash(const std::string &path, std::uint64_t size);

} // namespace ckpt::journal
