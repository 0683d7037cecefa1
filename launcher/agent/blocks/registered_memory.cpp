/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * registered_memory.cpp - mappings of files, and their loans.
 *
 * A file of a checkpoint is never truncated while it has its name. Files are written under other
 * names, and a file whose space is reused has lost its name before. The tags of lent blocks come
 * from reads of the file and not from the mapping, which other nodes can only read.
 */
#include "agent/blocks/registered_memory.hpp"

#include "common/invariant.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace ckpt::redundancy
{

namespace
{

/* A reader needs a piece and the parity beside it. Each file takes pages and registrations of
 * the network card. */
constexpr std::size_t most_files = 8;

} // namespace

RegisteredMemory::Mapping::Mapping(const ServedFile &file)
{
    void *const memory =
        ::mmap(nullptr, file.size(), PROT_READ, MAP_SHARED, file.descriptor(), 0);

    if (memory == MAP_FAILED) {
        throw fabric::Failure(fmt::format("cannot map a file: {}", std::strerror(errno)));
    }
    bytes_ = {static_cast<const std::byte *>(memory), file.size()};
}

RegisteredMemory::Mapping::~Mapping()
{
    (void)::munmap(const_cast<std::byte *>(bytes_.data()), bytes_.size());
}

RegisteredMemory::~RegisteredMemory() = default;

fabric::Lent RegisteredMemory::lend(const ServedFile &file, const std::string &provider)
{
    const auto found = std::ranges::find(files_, file.identity(), &LentFile::identity);

    if (found != files_.end()) {
        return found->loan->lent();
    }
    if (files_.size() == most_files) {
        throw fabric::Failure(fmt::format("no more than {} files are lent", most_files));
    }
    auto &lent = files_.emplace_back(file.identity(), file);
    try {
        lent.loan = host_.lend(lent.mapping.bytes(), provider, local_);
    } catch (const fabric::Failure &) {
        files_.pop_back();
        throw;
    }
    CKPT_INVARIANT(files_.size() <= most_files && lent.loan != nullptr);
    return lent.loan->lent();
}

} // namespace ckpt::redundancy
