/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * place.hpp - which process of the new launch this is.
 */
#pragma once

namespace ckpt::restart
{

struct Place {
    int rank = 0;       /* 0 without a launcher */
    int size = 1;       /* -1: the launcher does not tell */
    int local_size = 1; /* processes on this node, this one included */
};

/*
 * As mpirun (OMPI_COMM_WORLD_*), hydra (PMI_*) or another PMIx launcher tells
 * by the environment; without any of them, the only process.
 * Throws Error for a variable that is no number.
 */
Place place_in_launch();

} // namespace ckpt::restart
