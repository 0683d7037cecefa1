/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * result_text.hpp - formats the result of a simulation, for people and for
 * programs.
 */
#pragma once

#include "simulator/simulation.hpp"

#include <string>

namespace ckpt::simulator
{

/* `program` is the name of the simulated program. Times are in seconds, sizes
 * in bytes. */
std::string to_json(const Scenario &scenario, const std::string &program,
                    const Result &result);
std::string to_text(const Scenario &scenario, const std::string &program,
                    const Result &result);

} // namespace ckpt::simulator
