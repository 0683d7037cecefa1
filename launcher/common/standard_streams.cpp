/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * standard_streams.cpp - keeps closed standard streams from being reused.
 */
#include "config.h"
#include "common/standard_streams.hpp"

#include "common/error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace ckpt
{

void hold_standard_streams()
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        if (fcntl(stream, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", O_RDWR | O_CLOEXEC) != stream) {
            fail_errno(errno, "cannot open /dev/null");
        }
    }
}

} // namespace ckpt
