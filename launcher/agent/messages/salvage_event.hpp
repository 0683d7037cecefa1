/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * salvage_event.hpp - progress of the salvage of a job in which a rank has died
 * (agent/ranks/salvage.hpp).
 */
#pragma once

#include <cstdint>
#include <string>

namespace ckpt
{

struct SalvageEvent {
    enum class Kind {
        begun,
        done,
        failed
    } kind;
    int rank;
    std::uint64_t number = 0;   /* done: number of the checkpoint */
    std::uint64_t interval = 0; /* done: interval of the rank at its death */
    std::string why;            /* failed: the reason */
};

} // namespace ckpt
