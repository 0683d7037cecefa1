/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inherited_descriptors.hpp - closes descriptors that a shell or batch system has
 * left open.
 */
#pragma once

#include "cli/base/command.hpp"

namespace ckpt::cli
{

/*
 * Marks descriptors above the standard streams close-on-exec if they lead to other
 * processes: pipes, sockets and terminals. A program with such a descriptor could
 * not be saved; mpirun closes them, too. Files stay open. So does a descriptor
 * that an argument names ("/dev/fd/63", from <(command) in bash). For a child
 * process before exec.
 */
void close_inherited_descriptors(const Words &command);

} // namespace ckpt::cli
