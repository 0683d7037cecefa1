/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * content_hash.cpp - computes the hash of a file's content that the file journal
 * records.
 */
#include "config.h"
#include "journal/content_hash.hpp"

#include "ckpt/journal.h"
#include "common/files/files.hpp"

#include <isa-l/crc.h>

#include <fcntl.h>

#include <algorithm>
#include <vector>

namespace ckpt::journal
{

std::optional<std::uint64_t> content_hash(const std::string &path, std::uint64_t size)
{
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    std::vector<unsigned char> bytes(std::min<std::uint64_t>(size, CKPT_JOURNAL_HASHED_BYTES));
    std::uint32_t state = 0xffffffffu;

    if (fd.get() < 0) {
        return std::nullopt;
    }
    for (const std::uint64_t start : {std::uint64_t{0}, size - bytes.size()}) {
        if (read_exactly(fd.get(), bytes.data(), bytes.size(), start) != 0) {
            return std::nullopt;
        }
        state = crc32_iscsi(bytes.data(), static_cast<int>(bytes.size()), state);
    }
    return static_cast<std::uint32_t>(~state);
}

} // namespace ckpt::journal
