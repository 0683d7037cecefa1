/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch_options.cpp - options of ckpt-launch.
 */
#include "config.h"
#include "launch/launch_options.hpp"

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <map>

namespace ckpt::launch
{

namespace
{

constexpr int most_ranks = 65535; /* PMIx numbers the ranks of a node with 16 bits */

const std::map<std::string, BindTo> bindings = {{"core", BindTo::core},
                                                {"numa", BindTo::numa},
                                                {"socket", BindTo::socket},
                                                {"none", BindTo::none}};

/* -x NAME passes on a variable of this process. The ranks inherit all variables anyway. */
void drop_inherited(std::vector<std::string> &variables)
{
    std::erase_if(variables,
                  [](const std::string &entry) { return entry.find('=') == entry.npos; });
}

} // namespace

LaunchOptions parse_options(int argc, char **argv)
{
    LaunchOptions options;
    CLI::App app("Starts the ranks of a job. Started by 'ckpt run -n RANKS'.");

    app.add_option("-n,--np", options.ranks, "Number of ranks")
        ->required()
        ->check(CLI::Range(1, most_ranks));
    app.add_option("-x", options.variables, "Variable of the ranks: NAME=VALUE, or NAME")
        ->allow_extra_args(false);
    app.add_option("--wdir", options.directory, "Working directory of the ranks");
    app.add_option("--bind-to", options.bind_to, "core, numa, socket or none")
        ->transform(CLI::CheckedTransformer(bindings));
    app.add_option("--pmix", options.pmix, "PMIx library")->default_val("libpmix.so.2");
    app.add_flag("--keep-going", options.keeps_going, "The end of a rank ends no other rank")
        ->envname(keep_going_variable);
    app.prefix_command(); /* the program and its arguments follow */
    app.set_version_flag("--version", PACKAGE_STRING);
    try {
        app.parse(argc, argv);
        options.program = app.remaining();
        if (options.program.empty() || options.program.front().starts_with('-')) {
            throw CLI::ExtrasError("ckpt-launch", options.program);
        }
    } catch (const CLI::ParseError &problem) {
        std::exit(app.exit(problem) == 0 ? 0 : 2);
    }
    drop_inherited(options.variables);
    return options;
}

} // namespace ckpt::launch
