/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * random_digits.cpp - unique text.
 */
#include "config.h"
#include "common/random_digits.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <sys/random.h>

#include <cerrno>
#include <vector>

namespace ckpt
{

std::string random_digits(std::size_t bytes)
{
    CKPT_EXPECT(bytes > 0 && bytes <= 256); /* the kernel gives no more at once */
    std::vector<unsigned char> random(bytes);
    std::string text;

    if (::getrandom(random.data(), bytes, 0) != static_cast<ssize_t>(bytes)) {
        fail_errno(errno, "the kernel gives no random number");
    }
    for (const unsigned char byte : random) {
        text += fmt::format("{:02x}", byte);
    }
    CKPT_INVARIANT(text.size() == 2 * bytes);
    return text;
}

} // namespace ckpt
