/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * place.hpp - the rank of this process in the new launch.
 */
#pragma once

namespace ckpt::restart
{

struct Place {
    int rank = 0;       /* 0 without a launcher */
    int size = 1;       /* -1: the launcher does not tell */
    int local_size = 1; /* processes on this node, including this one */
};

/*
 * Reads the variables of mpirun (OMPI_COMM_WORLD_*), hydra (PMI_*) or another
 * PMIx launcher. Without any of them this is the only process. Throws Error if
 * a variable is not a number.
 */
Place place_in_launch();

} // namespace ckpt::restart
