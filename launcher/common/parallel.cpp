/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * parallel.cpp - independent calls on several threads.
 */
#include "config.h"
#include "common/parallel.hpp"

#include "common/invariant.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace ckpt
{

unsigned online_cpus()
{
    return static_cast<unsigned>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

void parallel_for(std::size_t count, unsigned threads,
                  const std::function<void(std::size_t)> &work)
{
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::exception_ptr failure;
    auto loop = [&] {
        try {
            for (std::size_t i; (i = next++) < count;) {
                work(i);
            }
        } catch (...) {
            next = count;
            std::lock_guard lock(mutex);
            failure = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> helpers;
        try {
            for (std::size_t i = 1; i < std::min<std::size_t>(threads, count); i++) {
                helpers.emplace_back(loop);
            }
        } catch (const std::system_error &) {
            /* the system cannot create more threads */
        }
        loop();
    }
    CKPT_INVARIANT(failure || next >= count); /* each call was begun */
    if (failure) {
        std::rethrow_exception(failure);
    }
}

} // namespace ckpt
