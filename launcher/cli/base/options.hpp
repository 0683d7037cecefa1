/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.hpp - declares the options of a command.
 *
 * Every option --some-option can also be given by the environment variable
 * CKPT_SOME_OPTION; the command line takes precedence.
 *
 * Only for files that declare options, because CLI/CLI.hpp takes seconds to
 * compile.
 */
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>

namespace ckpt::cli
{

/* Converts "--some-option" to "CKPT_SOME_OPTION". */
std::string environment_name(std::string_view option);

template <typename T>
CLI::Option *add_option(CLI::App &app, const std::string &name, T &value,
                        const std::string &text)
{
    return app.add_option(name, value, text)->envname(environment_name(name));
}

CLI::Option *add_flag(CLI::App &app, const std::string &name, bool &value,
                      const std::string &text);

/* Declares --key, for commands that read images. */
void add_key_option(CLI::App &app, std::string &key);

/* Declares --dir, which most commands have. */
void add_directory_option(CLI::App &app, std::string &directory);

} // namespace ckpt::cli
