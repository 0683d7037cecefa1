/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_request.hpp - requests a checkpoint through the launcher's PMIx server
 * (docs/pmix.md), from any node.
 */
#pragma once

#include <functional>
#include <string>

namespace ckpt::cli
{

/*
 * Connects as a PMIx tool to the server in the mpirun with this process id, requests a
 * checkpoint of its job, and waits for the answer. Returns the name of the checkpoint.
 * Works only where a tool does no harm: once for each mpirun of Open MPI 5.0. Not for
 * programs with several threads. Throws CommandError. waiting: called repeatedly.
 */
std::string ask_through_pmix(int launcher, const std::function<void()> &waiting);

} // namespace ckpt::cli
