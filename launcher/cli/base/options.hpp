/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.hpp - declares the options of a command, which settings/table.py lists.
 *
 * Only for files that declare options, because CLI/CLI.hpp takes seconds to
 * compile.
 */
#pragma once

#include "settings/declare.hpp"

namespace ckpt::cli
{

/* Declares an option or a flag of the command `app`; `value` gets the default at once. */
template <typename T>
CLI::Option *add_option(CLI::App &app, const char *name, T &value)
{
    return settings::declare(app, settings::option_of(app.get_name(), name), value);
}

} // namespace ckpt::cli
