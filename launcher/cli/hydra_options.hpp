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

/* How many words follow the option `name` (dashes taken off); nothing if it is
 * not known. next: the word after it, or empty: -genv takes NAME=VALUE or two
 * words. */
std::optional<std::size_t> hydra_value_count(std::string_view name,
                                             std::string_view next);

/* The one spelling of options that have several. */
std::string_view hydra_name(std::string_view name);

} // namespace ckpt::cli
