/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait_notice.hpp - prints a notice while a command waits for a file system that does not
 * respond.
 */
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace ckpt::cli
{

class WaitNotice
{
  public:
    /* directory: accessed by the caller during the lifetime of this object. If that takes
     * longer than `timeout`, prints a notice to standard error, once per command. */
    explicit WaitNotice(const std::string &directory,
                        std::chrono::milliseconds timeout = std::chrono::seconds(2));
    ~WaitNotice();
    WaitNotice(const WaitNotice &) = delete;
    WaitNotice &operator=(const WaitNotice &) = delete;

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_over_ = false;
    std::thread thread_; /* last: the thread uses the members above */
};

} // namespace ckpt::cli
