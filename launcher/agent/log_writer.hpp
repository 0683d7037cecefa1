/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log_writer.hpp - appends lines to a file that may not answer for a while.
 */
#pragma once

#include "common/fd.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace ckpt
{

/* Its thread writes. A line is in the file when write() returns, as a reader expects; only if the
 * file system does not answer within `patience` write() does not wait, nor for later lines until
 * the file has caught up. Then `most_lines` are kept, and how many more there were is told. */
class LogWriter
{
  public:
    static constexpr std::size_t most_lines = 10000;

    /* file: open for appending. */
    explicit LogWriter(Fd file,
                       std::chrono::milliseconds patience = std::chrono::milliseconds(500));
    /* Waits as write() does. */
    ~LogWriter();
    LogWriter(const LogWriter &) = delete;
    LogWriter &operator=(const LogWriter &) = delete;

    /* From any thread. What the file does not take for an error, a full disk, is lost. */
    void write(std::string line);

  private:
    struct State;

    const std::shared_ptr<State> state_; /* also the thread's, which may outlive this */
};

} // namespace ckpt
