/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * random_digits.hpp - text that nobody else has, for names and tokens.
 */
#pragma once

#include <cstddef>
#include <string>

namespace ckpt
{

/* `bytes` random bytes of the kernel as hexadecimal digits, two for each. Throws Error. */
std::string random_digits(std::size_t bytes);

} // namespace ckpt
