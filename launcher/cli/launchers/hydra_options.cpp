/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hydra_options.cpp - options of mpiexec of MPICH 4 and 5, with the number of
 * their values.
 */
#include "cli/launchers/hydra_options.hpp"

#include <map>

namespace ckpt::cli
{

namespace
{

const std::map<std::string_view, std::size_t> options = {
    {"bind-to", 1},
    {"configfile", 1},
    {"debug", 0},
    {"demux", 1},
    {"disable-auto-cleanup", 0},
    {"disable-hostname-propagation", 0},
    {"disable-x", 0},
    {"enable-auto-cleanup", 0},
    {"enable-hostname-propagation", 0},
    {"enable-x", 0},
    {"env", 2},
    {"envall", 0},
    {"envlist", 1},
    {"envnone", 0},
    {"errfile-pattern", 1},
    {"f", 1},
    {"genv", 2},
    {"genvall", 0},
    {"genvlist", 1},
    {"genvnone", 0},
    {"gpu-subdevs-per-proc", 1},
    {"gpus-per-proc", 1},
    {"host", 1},
    {"hostlist", 1},
    {"hosts", 1},
    {"hybrid-hosts", 0},
    {"iface", 1},
    {"info", 0},
    {"l", 0},
    {"launcher", 1},
    {"launcher-exec", 1},
    {"localhost", 1},
    {"machine", 1},
    {"machinefile", 1},
    {"machinelist", 1},
    {"machines", 1},
    {"map-by", 1},
    {"membind", 1},
    {"memory-alloc-kinds", 1},
    {"n", 1},
    {"nameserver", 1},
    {"np", 1},
    {"order-nodes", 1},
    {"outfile-pattern", 1},
    {"perhost", 1},
    {"pmi-port", 0},
    {"ppn", 1},
    {"prepend-pattern", 1},
    {"prepend-rank", 0},
    {"print-all-exitcodes", 0},
    {"profile", 0},
    {"rankmap", 1},
    {"rmk", 1},
    {"skip-launch-node", 0},
    {"topolib", 1},
    {"usize", 1},
    {"v", 0},
    {"verbose", 0},
    {"wdir", 1},
};

const std::map<std::string_view, std::string_view> synonyms = {
    {"n", "np"},
    {"env", "genv"},
};

} // namespace

std::optional<std::size_t> hydra_value_count(std::string_view name,
                                             std::string_view next)
{
    auto known = options.find(name);
    if (known == options.end()) {
        return std::nullopt;
    }
    return known->second == 2 && next.find('=') != next.npos ? 1
                                                             : known->second;
}

std::string_view hydra_name(std::string_view name)
{
    auto found = synonyms.find(name);
    return found != synonyms.end() ? found->second : name;
}

} // namespace ckpt::cli
