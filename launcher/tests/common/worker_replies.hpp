/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * worker_replies.hpp - the event loop of a test: runs the replies of a worker's threads.
 */
#pragma once

#include "agent/base/worker_thread.hpp"

#include <gtest/gtest.h>

#include <poll.h>

namespace ckpt::test
{

/* Runs replies until the condition holds; the test fails if none comes for long. */
template <typename Condition>
void run_replies_until(WorkerThread &worker, Condition condition)
{
    while (!condition()) {
        pollfd ready = {worker.descriptor(), POLLIN, 0};
        ASSERT_EQ(::poll(&ready, 1, 20000), 1) << "nothing happens";
        worker.run_replies();
    }
}

} // namespace ckpt::test
