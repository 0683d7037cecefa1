/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * environment.hpp - settings that come from this process's variables only.
 */
#pragma once

#include <string>
#include <string_view>

namespace ckpt::settings
{

/* Returns the value of a setting's variable; if it is not set or empty, the default, or "". Throws
 * Error naming the variable if the value is invalid, std::logic_error if the table lacks it. */
std::string from_environment(std::string_view variable);

/* Checks the variables that no option of `command` sets, if one of `readers` (a set of Reader)
 * reads them. Throws Error naming the variable. */
void check_other_variables(std::string_view command, unsigned readers);

} // namespace ckpt::settings
