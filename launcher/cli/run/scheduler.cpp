/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scheduler.cpp - detects batch systems by the variables that they set for jobs.
 */
#include "cli/run/scheduler.hpp"

#include "cli/jobs/settings.hpp"

#include <fmt/core.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace ckpt::cli
{

namespace
{

/* Ids have forms like "123[4].server" or "f2oeHL2nF1"; replaces characters that are
 * invalid in a job's name by underscores. */
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
        /* Flux does not requeue a job that has run. */
        return {"Flux", name_part(id), 0, ""};
    }
    return {};
}

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

std::string fact_in(const std::string &text, const std::string &name)
{
    const std::string label = fmt::format(" {}=", name);
    const auto at = text.find(label);
    if (at == text.npos) {
        return "";
    }
    const auto begin = at + label.size();
    return text.substr(begin, text.find_first_of(" \n", begin) - begin);
}

std::string slurm_job_fact(const std::string &id, const std::string &name)
{
    return fact_in(output_of(fmt::format("scontrol -o show job {}", id)), name);
}

bool is_preempted(const Scheduler &scheduler)
{
    if (scheduler.name != "Slurm") {
        return false;
    }
    const std::string time = slurm_job_fact(variable("SLURM_JOB_ID"), "PreemptTime");
    return !time.empty() && time != "None";
}

} // namespace ckpt::cli
