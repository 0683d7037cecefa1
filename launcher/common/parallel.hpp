/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * parallel.hpp - runs independent calls on several threads.
 */
#pragma once

#include <cstddef>
#include <functional>

namespace ckpt
{

/* Number of online CPUs, whatever this process is bound to. */
unsigned online_cpus();

/*
 * Calls work(i) once for each i in [0, count), on at most `threads` threads.
 * The calls start in ascending order. Uses fewer threads if the system cannot
 * create more. If a call throws, no further calls start, and this function
 * throws one of the exceptions.
 */
void parallel_for(std::size_t count, unsigned threads,
                  const std::function<void(std::size_t)> &work);

} // namespace ckpt
