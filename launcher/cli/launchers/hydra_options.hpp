/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hydra_options.hpp - options of mpiexec of MPICH.
 */
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace ckpt::cli
{

/* Returns how many values follow the option `name` (given without dashes);
 * nothing if the option is unknown. next: the following word, or empty. It
 * matters because -genv takes NAME=VALUE or two words. */
std::optional<std::size_t> hydra_value_count(std::string_view name,
                                             std::string_view next);

/* Returns the canonical name of options that have several names. */
std::string_view hydra_name(std::string_view name);

} // namespace ckpt::cli
