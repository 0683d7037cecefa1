/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_page_file.hpp - the page that a rank sends to its agent, made by a test.
 */
#pragma once

#include "ckpt/wire.h"
#include "common/fd.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace ckpt::test
{

/* Makes a page as a rank does (mpi-plugin/link/rank_page.c); ends the process on failure. `page`:
 * the mapping; the caller may unmap it. seals: the seals that fix the size. */
inline Fd make_rank_page(int rank, int rank_count, ckpt_rank_page *&page,
                         int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
{
    const std::size_t size = CKPT_RANK_PAGE_SIZE(static_cast<std::size_t>(rank_count));
    Fd file(::memfd_create("rank-page", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    void *address = MAP_FAILED;

    if (file && ::ftruncate(file.get(), static_cast<off_t>(size)) == 0 &&
        ::fcntl(file.get(), F_ADD_SEALS, seals) == 0) {
        address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    }
    if (address == MAP_FAILED) {
        std::perror("rank page");
        std::abort();
    }
    page = static_cast<ckpt_rank_page *>(address);
    page->magic = CKPT_PAGE_MAGIC;
    page->version = CKPT_WIRE_VERSION;
    page->rank = static_cast<std::uint32_t>(rank);
    page->rank_count = static_cast<std::uint32_t>(rank_count);
    return file;
}

} // namespace ckpt::test
