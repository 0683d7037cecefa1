/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * programs.hpp - the programs that lie beside the agent.
 */
#pragma once

#include <string>

namespace ckpt
{

/* Returns the path of a program of this installation. Throws std::filesystem::filesystem_error. */
std::string own_program(const std::string &name);

} // namespace ckpt
