/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log_writer.hpp - appends lines to a file whose file system may hang for a
 * while.
 */
#pragma once

#include "common/fd.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace ckpt
{

/* A thread writes the lines. A line is in the file when write() returns, as readers expect. If
 * the file system does not answer within `timeout`, write() returns nevertheless. Later calls
 * do not wait until the file has caught up. Meanwhile `most_lines` lines are kept, and the file
 * gets the number of dropped lines. */
class LogWriter
{
  public:
    static constexpr std::size_t most_lines = 10000;

    /* file: open for appending. */
    explicit LogWriter(Fd file,
                       std::chrono::milliseconds timeout = std::chrono::milliseconds(500));
    /* Waits as write() does. */
    ~LogWriter();
    LogWriter(const LogWriter &) = delete;
    LogWriter &operator=(const LogWriter &) = delete;

    /* May be called from any thread. Lines that the file rejects with an error, such as a full
     * disk, are lost. */
    void write(std::string line);

  private:
    struct State;

    const std::shared_ptr<State> state_; /* shared with the thread, which may outlive this object */
};

} // namespace ckpt
