/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * parallel.hpp - does independent pieces of work on several threads.
 */
#pragma once

#include <cstddef>
#include <functional>

namespace ckpt
{

/* CPUs that are online, whatever this process is bound to. */
unsigned online_cpus();

/*
 * Calls work(i) once for each i in [0, count), from at most `threads` threads,
 * fewer if the system has no room for them, in rising order of start. When a
 * call throws, no further ones are started, and one of the exceptions is thrown
 * here.
 */
void parallel_for(std::size_t count, unsigned threads,
                  const std::function<void(std::size_t)> &work);

} // namespace ckpt
