/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * environment.cpp - settings from variables.
 */
#include "settings/environment.hpp"

#include "common/error.hpp"
#include "settings/settings.hpp"

#include <cstdlib>

namespace ckpt::settings
{

namespace
{

std::string value_of(const Setting &setting)
{
    const char *value = std::getenv(setting.variable);
    return value == nullptr ? "" : value;
}

} // namespace

std::string from_environment(std::string_view variable)
{
    const Setting &setting = setting_of(variable);
    const std::string value = value_of(setting);
    if (value.empty()) {
        return setting.standard;
    }
    check_named(setting, value);
    return value;
}

void check_other_variables(std::string_view command, unsigned readers)
{
    for (const Setting &setting : all()) {
        const std::string value = value_of(setting);
        if (!value.empty() && (setting.readers & readers) != 0 && !setting.is_of(command)) {
            check_named(setting, value);
        }
    }
}

} // namespace ckpt::settings
