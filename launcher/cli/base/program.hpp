/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program.hpp - the program `ckpt`: all commands with their options.
 */
#pragma once

#include "cli/base/command.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <vector>

namespace ckpt::cli
{

/* All commands, ready to parse; `commands` are in the order of the subcommands of
 * `app`. */
struct Program {
    Program();

    /* Returns the command of a subcommand of `app`. */
    Command &command(const CLI::App &subcommand) const;

    /* Returns how help texts call the words after "--" for this subcommand; "" if no
     * words are allowed. */
    std::string rest_usage(const CLI::App &subcommand) const
    {
        return command(subcommand).rest_usage();
    }

    CLI::App app;
    std::vector<std::unique_ptr<Command>> commands;
};

} // namespace ckpt::cli
