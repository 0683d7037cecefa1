/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launcher_channel.hpp - the descriptor by which MPICH's launcher hydra serves
 * this process.
 */
#pragma once

namespace ckpt::restart
{

/*
 * Moves that descriptor to `first_free` or above, so that the saved process's
 * descriptors do not meet it, and tells the MPI library to come by the
 * environment (PMI_FD). Returns its new number, or -1 if there is none.
 * Throws Error.
 */
int lift_launcher_channel(int first_free);

} // namespace ckpt::restart
