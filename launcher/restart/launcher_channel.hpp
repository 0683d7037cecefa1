/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launcher_channel.hpp - the descriptor through which MPICH's launcher hydra
 * serves this process.
 */
#pragma once

namespace ckpt::restart
{

/*
 * Moves that descriptor to `first_free` or above, to keep it clear of the saved
 * process's descriptors. Sets PMI_FD in the environment for the MPI library.
 * Returns the new number, or -1 without such a descriptor. Throws Error.
 */
int lift_launcher_channel(int first_free);

} // namespace ckpt::restart
