/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settings.cpp - finds settings in the table.
 */
#include "settings/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace ckpt::settings
{

namespace
{

struct Internal {
    const char *variable;
    AfterRestart after_restart;
};

#include "settings/table.inc"

bool has_word(std::string_view list, std::string_view word)
{
    while (!list.empty()) {
        const auto end = std::min(list.find(' '), list.size());
        if (list.substr(0, end) == word) {
            return true;
        }
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return false;
}

/* No value of a setting could be right if its limits were the wrong way round. Every option has a
 * variable, by which batch scripts set it. */
constexpr bool is_sound(const Setting &setting)
{
    return setting.least <= setting.most &&
           std::string_view(setting.variable).starts_with("CKPT_") && setting.readers != 0;
}
static_assert(std::ranges::all_of(settings, is_sound));
static_assert(std::ranges::none_of(settings, [](const Setting &setting) {
    return setting.type == Type::key && setting.after_restart != AfterRestart::never;
})); /* a checkpoint does not name its own key */

/* Entries of one variable agree: generate.py checks that. */
const Setting *find(std::string_view variable)
{
    const auto found = std::ranges::find(settings, variable, &Setting::variable);
    return found == std::end(settings) ? nullptr : found;
}

/* Returns what becomes of a variable; `unknown` if the table lacks it. */
AfterRestart after_restart(std::string_view variable, AfterRestart unknown)
{
    if (const Setting *setting = find(variable)) {
        return setting->after_restart;
    }
    const auto internal = std::ranges::find(internals, variable, &Internal::variable);
    return internal == std::end(internals) ? unknown : internal->after_restart;
}

} // namespace

bool Setting::is_of(std::string_view command) const
{
    return has_word(commands, command);
}

std::span<const Setting> all()
{
    return settings;
}

std::vector<const Setting *> options_of(std::string_view command)
{
    std::vector<const Setting *> options;
    for (const Setting &setting : settings) {
        if (setting.is_of(command)) {
            options.push_back(&setting);
        }
    }
    return options;
}

const Setting &option_of(std::string_view command, std::string_view option)
{
    for (const Setting &setting : settings) {
        if (setting.option == option && setting.is_of(command)) {
            return setting;
        }
    }
    throw std::logic_error(
        fmt::format("the table of settings has no {} of {}", option, command));
}

const Setting &setting_of(std::string_view variable)
{
    const Setting *setting = find(variable);
    if (setting == nullptr) {
        throw std::logic_error(fmt::format("the table of settings has no {}", variable));
    }
    return *setting;
}

bool is_kept(std::string_view variable)
{
    return after_restart(variable, AfterRestart::recorded) == AfterRestart::kept;
}

bool is_recorded(std::string_view variable)
{
    return after_restart(variable, AfterRestart::recorded) != AfterRestart::never;
}

} // namespace ckpt::settings
