/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait_notice.hpp - says what a command waits for when a file system does not answer.
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
    /* directory: whose file system is asked as long as this lives. If that takes longer than
     * `patience`, standard error says so; once for a command. */
    explicit WaitNotice(const std::string &directory,
                        std::chrono::milliseconds patience = std::chrono::seconds(2));
    ~WaitNotice();
    WaitNotice(const WaitNotice &) = delete;
    WaitNotice &operator=(const WaitNotice &) = delete;

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_over_ = false;
    std::thread thread_; /* last: starts when all else is there */
};

} // namespace ckpt::cli
