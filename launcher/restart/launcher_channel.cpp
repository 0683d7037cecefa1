/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launcher_channel.cpp - the descriptor through which MPICH's launcher hydra
 * serves this process.
 */
#include "config.h"
#include "restart/launcher_channel.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

namespace ckpt::restart
{

int lift_launcher_channel(int first_free)
{
    CKPT_EXPECT(first_free > STDERR_FILENO);
    constexpr const char *variable = "PMI_FD";
    const char *value = std::getenv(variable);
    if (value == nullptr) {
        return -1;
    }
    std::string_view text = value;
    int given = -1;
    auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), given);
    if (error != std::errc() || end != text.data() + text.size()) {
        fail("{}={} is not a descriptor", variable, text);
    }
    int lifted = ::fcntl(given, F_DUPFD_CLOEXEC, first_free);
    if (lifted < 0) {
        fail_errno(errno, "the launcher's descriptor {} cannot be kept", given);
    }
    ::close(given);
    ::setenv(variable, std::to_string(lifted).c_str(), 1);
    return lifted;
}

} // namespace ckpt::restart
