/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slurm_nodes.cpp - asks Slurm for the nodes of the allocation, and updates the
 * variables for its launchers.
 */
#include "cli/run/slurm_nodes.hpp"

#include "cli/run/scheduler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace ckpt::cli
{

namespace
{

/* Expands "2(x3),1" to 2 2 2 1. */
Words expanded(const std::string &counts)
{
    Words all;
    std::istringstream words(counts);
    for (std::string word; std::getline(words, word, ',');) {
        const auto times = word.find("(x");
        const int count = times == word.npos ? 1 : std::atoi(word.c_str() + times + 2);
        all.insert(all.end(), static_cast<std::size_t>(std::max(count, 0)),
                   word.substr(0, times));
    }
    return all;
}

/* Returns the names in a list such as "n[1-3,7]". */
Words names_in(const std::string &list)
{
    std::istringstream lines(output_of(fmt::format("scontrol show hostnames '{}'", list)));
    Words names;
    for (std::string line; std::getline(lines, line);) {
        names.push_back(line);
    }
    return names;
}

/* Returns the counts of the remaining nodes. */
Words of_nodes(const Words &before, const Words &now, const Words &counts)
{
    Words picked;
    for (std::size_t i = 0; i < before.size(); i++) {
        if (std::ranges::find(now, before[i]) != now.end()) {
            picked.push_back(counts[i]);
        }
    }
    return picked;
}

} // namespace

Environment variables_of_nodes(const Words &before, const Words &now, const std::string &tasks,
                               const std::string &processors)
{
    const Words all_tasks = expanded(tasks);
    const Words all_processors = expanded(processors);
    if (all_tasks.size() != before.size() || all_processors.size() != before.size()) {
        return {};
    }
    const std::string names = fmt::format("{}", fmt::join(now, ","));
    const std::string count = std::to_string(now.size());
    return {
        {"SLURM_JOB_NODELIST", names},
        {"SLURM_NODELIST", names},
        {"SLURM_JOB_NUM_NODES", count},
        {"SLURM_NNODES", count},
        {"SLURM_TASKS_PER_NODE",
         fmt::format("{}", fmt::join(of_nodes(before, now, all_tasks), ","))},
        {"SLURM_JOB_CPUS_PER_NODE",
         fmt::format("{}", fmt::join(of_nodes(before, now, all_processors), ","))},
    };
}

Environment slurm_nodes_left()
{
    const std::string id = variable("SLURM_JOB_ID");
    if (id.empty()) {
        return {};
    }
    const Words before = names_in(variable("SLURM_JOB_NODELIST"));
    const Words now = names_in(slurm_job_fact(id, "NodeList"));
    if (now.empty() || now.size() >= before.size()) {
        return {};
    }
    fmt::print(stderr, "ckpt: {} of {} nodes are left: {}\n", now.size(), before.size(),
               fmt::join(now, ","));
    return variables_of_nodes(before, now, variable("SLURM_TASKS_PER_NODE"),
                              variable("SLURM_JOB_CPUS_PER_NODE"));
}

} // namespace ckpt::cli
