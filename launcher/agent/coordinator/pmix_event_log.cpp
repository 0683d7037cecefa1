/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_event_log.cpp - reports of the job's launcher through PMIx.
 */
#include "agent/coordinator/pmix_event_log.hpp"

#include <spdlog/spdlog.h>

namespace ckpt
{

namespace
{

double milliseconds(PmixEventLog::Time from, PmixEventLog::Time to)
{
    return std::chrono::duration<double, std::milli>(to - from).count();
}

} // namespace

void PmixEventLog::registered(const std::string &version, int code)
{
    version_ = code == 0 ? version.substr(0, version.find_last_not_of(' ') + 1) : "";
    if (code == 0) {
        spdlog::info("PMIx: requests for checkpoints are heard through {}", version_);
    } else {
        spdlog::warn("PMIx: {} takes no handler for requests (error {})", version, code);
    }
}

void PmixEventLog::declared(int code)
{
    if (code == 0) {
        spdlog::info("PMIx: the server knows that the job can be saved");
    } else {
        spdlog::info("PMIx: the server does not care that the job can be saved (error {})",
                     code);
    }
}

void PmixEventLog::ended(int rank, int code, Time now)
{
    auto known = known_.find(rank);

    told_.emplace(rank, now);
    if (known == known_.end()) {
        spdlog::info("PMIx: rank {} has ended (error {}), which is new", rank, code);
    } else {
        spdlog::info("PMIx: rank {} has ended (error {}), as was known {:.1f} ms ago", rank,
                     code, milliseconds(known->second, now));
    }
}

void PmixEventLog::exited(int rank, Time now)
{
    auto told = told_.find(rank);

    known_.insert_or_assign(rank, now);
    if (told != told_.end()) {
        spdlog::info("PMIx has told {:.1f} ms ago that rank {} has ended",
                     milliseconds(told->second, now), rank);
    }
}

} // namespace ckpt
