/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program.cpp - finds the command of a subcommand.
 */
#include "config.h"
#include "cli/base/program.hpp"

#include "common/invariant.hpp"

#include <algorithm>

namespace ckpt::cli
{

Command &Program::command(const CLI::App &subcommand) const
{
    const auto all = app.get_subcommands([](const CLI::App *) { return true; });
    const auto index =
        static_cast<std::size_t>(std::ranges::find(all, &subcommand) - all.begin());

    CKPT_EXPECT(all.size() == commands.size() && index < commands.size());
    return *commands[index];
}

} // namespace ckpt::cli
