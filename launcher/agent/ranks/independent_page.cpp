/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * independent_page.cpp - reads the page of ranks with independent checkpoints.
 */
#include "agent/ranks/independent_page.hpp"

#include "agent/base/rejected_frames.hpp"
#include "common/invariant.hpp"

#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

namespace ckpt
{

IndependentPage::IndependentPage(Fd file, int rank_count)
    : file_(std::move(file)), rank_count_(rank_count)
{
    if (!read()) {
        reject(Rejection::malformed,
               "the shared memory is not a page of independent checkpoints of {} ranks",
               rank_count_);
    }
}

std::optional<IndependentState> IndependentPage::read() const
{
    const auto count = static_cast<std::size_t>(rank_count_);
    std::vector<std::byte> bytes(CKPT_INDEPENDENT_SIZE(count));
    ckpt_independent_page page;

    if (pread(file_.get(), bytes.data(), bytes.size(), 0) !=
        static_cast<ssize_t>(bytes.size())) {
        return std::nullopt;
    }
    std::memcpy(&page, bytes.data(), sizeof page);
    if (page.magic != CKPT_INDEPENDENT_MAGIC || page.version != CKPT_INDEPENDENT_VERSION ||
        page.rank_count != count) {
        return std::nullopt;
    }
    IndependentState state;
    state.ranks.resize(count);
    static_assert(std::is_trivially_copyable_v<ckpt_independent_rank>);
    CKPT_INVARIANT(bytes.size() >= sizeof page + count * sizeof(ckpt_independent_rank));
    std::memcpy(state.ranks.data(), bytes.data() + sizeof page,
                count * sizeof(ckpt_independent_rank));
    return state;
}

} // namespace ckpt
