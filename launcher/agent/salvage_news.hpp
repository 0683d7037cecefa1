/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * salvage_news.hpp - what becomes of a job of which one rank has died (agent/salvage.hpp).
 */
#pragma once

#include <cstdint>
#include <string>

namespace ckpt
{

struct SalvageNews {
    enum class Kind { begun, done, failed } kind;
    int rank;
    std::uint64_t number = 0;   /* done: of the checkpoint */
    std::uint64_t interval = 0; /* done: how far the rank had come */
    std::string why;            /* failed */
};

} // namespace ckpt
