/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * random_digits.hpp - unique text for names and tokens.
 */
#pragma once

#include <cstddef>
#include <string>

namespace ckpt
{

/* Returns `bytes` random bytes of the kernel as hexadecimal digits, two per byte. Throws Error. */
std::string random_digits(std::size_t bytes);

} // namespace ckpt
