/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inherited_descriptors.hpp - what a shell or a batch system has left open.
 */
#pragma once

#include "cli/command.hpp"

namespace ckpt::cli
{

/*
 * Marks close-on-exec what is open above the standard streams and leads to other
 * processes: pipes, sockets and terminals. A program that had one of them could
 * not be saved; mpirun closes them, too. One that an argument names ("/dev/fd/63",
 * as bash writes <(command)) stays, as do files. For a child before exec.
 */
void close_inherited_descriptors(const Words &command);

} // namespace ckpt::cli
