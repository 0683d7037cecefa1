/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * declare.hpp - declares options of a program from the table of settings.
 *
 * Only for files that declare options, because CLI/CLI.hpp takes seconds to compile.
 */
#pragma once

#include "common/error.hpp"
#include "settings/settings.hpp"

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <string>
#include <type_traits>

namespace ckpt::settings
{

/* Checks a value. CLI11 names the option in its message; for a value of the variable this throws
 * an Error that names the variable. */
inline CLI::Validator checked(const Setting &setting)
{
    return CLI::Validator(
        [&setting](std::string &text) {
            try {
                check(setting, text);
                if (setting.type == Type::bytes || setting.type == Type::granule) {
                    text = handed_on(setting, text);
                }
            } catch (const Error &problem) {
                const char *variable = std::getenv(setting.variable);
                if (variable != nullptr && text == variable) {
                    fail("{}: {}", setting.variable, problem.what());
                }
                return std::string(problem.what());
            }
            return std::string();
        },
        "");
}

/* What the target of an option holds if neither option nor variable is given. */
enum class Target {
    has_default,
    keeps_empty
};

/*
 * Declares an option with its variable; the command line takes precedence. target: gets the
 * value. A command's option may come without a value if the table implies one; that of ckptd, whose
 * app has no name, may not.
 */
template <typename T>
CLI::Option *declare(CLI::App &app, const Setting &setting, T &target,
                     Target otherwise = Target::has_default)
{
    const bool has_implied = *setting.implied != '\0' && !app.get_name().empty();
    const std::string names =
        *setting.letter != '\0' ? fmt::format("{},{}", setting.letter, setting.option)
                                : std::string(setting.option);
    CLI::Option *option = nullptr;
    if constexpr (std::is_same_v<T, bool>) {
        option = app.add_flag(names, target, setting.help);
    } else if (has_implied) {
        option = app.add_flag(names + "{" + setting.implied + "}", target,
                              setting.help);
    } else {
        option = app.add_option(names, target, setting.help)->type_name(setting.value);
    }
    if (setting.has_default()) {
        option->default_str(setting.standard);
        if (otherwise == Target::has_default) {
            CLI::detail::lexical_cast(std::string(setting.standard), target);
        }
    }
    return option->envname(setting.variable)
        ->transform(checked(setting))
        ->required(setting.is_required);
}

} // namespace ckpt::settings
