/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait_notice.cpp - a thread that prints a notice while another thread waits.
 */
#include "cli/jobs/wait_notice.hpp"

#include <fmt/core.h>

#include <atomic>
#include <cstdio>

namespace ckpt::cli
{

namespace
{

std::atomic<bool> has_been_said = false;

} // namespace

WaitNotice::WaitNotice(const std::string &directory, std::chrono::milliseconds timeout)
    : thread_([this, directory, timeout] {
          std::unique_lock lock(mutex_);
          if (!changed_.wait_for(lock, timeout, [this] { return is_over_; }) &&
              !has_been_said.exchange(true)) {
              fmt::print(stderr, "ckpt: waiting for the file system of {}\n", directory);
          }
      })
{
}

WaitNotice::~WaitNotice()
{
    {
        std::lock_guard lock(mutex_);
        is_over_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

} // namespace ckpt::cli
