/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_request.hpp - a checkpoint that is asked for by way of the launcher's PMIx server
 * (docs/pmix.md), wherever the ranks are.
 */
#pragma once

#include <functional>
#include <string>

namespace ckpt::cli
{

/*
 * Connects to the server in the mpirun with this process id, as a PMIx tool, asks for a
 * checkpoint of its job and waits for the answer. Returns the name of the checkpoint.
 * Only where a tool does no harm: mpirun of Open MPI 5.0, and once for each. Not for
 * several threads. Throws CommandError. waiting: called now and then.
 */
std::string ask_through_pmix(int launcher, const std::function<void()> &waiting);

} // namespace ckpt::cli
