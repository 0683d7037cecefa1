/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scheduler.cpp - batch systems, by the variables that they set for their jobs.
 */
#include "cli/scheduler.hpp"

#include "cli/settings.hpp"

#include <fmt/core.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace ckpt::cli
{

namespace
{

/* Ids are numbers, "123[4].server" or "f2oeHL2nF1": what cannot stand in a job's name is
 * made an underscore. */
std::string name_part(const std::string &id)
{
    std::string part;
    for (char c : id) {
        const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                              c == '.' || c == '-';
        part += is_plain ? c : '_';
    }
    return part;
}

Scheduler slurm(const std::string &id)
{
    const std::string count = variable("SLURM_RESTART_COUNT");
    return {"Slurm", name_part(id),
            static_cast<unsigned>(std::strtoul(count.c_str(), nullptr, 10)),
            fmt::format("scontrol requeue {}", id)};
}

/* What a command prints; "" if it cannot be started. */
std::string output_of(const std::string &command)
{
    std::unique_ptr<FILE, int (*)(FILE *)> pipe(popen(command.c_str(), "r"), pclose);
    std::string text;
    char part[4096];
    for (std::size_t got = 1; pipe && got > 0;) {
        got = fread(part, 1, sizeof(part), pipe.get());
        text.append(part, got);
    }
    return text;
}

} // namespace

Scheduler current_scheduler()
{
    if (const std::string id = variable("SLURM_JOB_ID"); !id.empty()) {
        return slurm(id);
    }
    if (const std::string id = variable("PBS_JOBID"); !id.empty()) {
        return {"PBS", name_part(id), 0, fmt::format("qrerun '{}'", id)};
    }
    if (const std::string id = variable("FLUX_JOB_ID"); !id.empty()) {
        return {"Flux", name_part(id), 0, ""}; /* a job that ran has ended */
    }
    return {};
}

bool tells_preemption(const std::string &text)
{
    const std::string label = " PreemptTime=";
    const auto at = text.find(label);
    return at != text.npos && text.compare(at + label.size(), 4, "None") != 0;
}

bool is_preempted(const Scheduler &scheduler)
{
    return scheduler.name == "Slurm" &&
           tells_preemption(output_of("scontrol -o show job " + variable("SLURM_JOB_ID")));
}

} // namespace ckpt::cli
