/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress_line.hpp - one line on the terminal for an operation that takes
 * longer than a second. Prints nothing if standard error is not a terminal.
 */
#pragma once

#include "common/durations.hpp"

#include <string>

namespace ckpt::cli
{

class ProgressLine
{
  public:
    ProgressLine();
    ProgressLine(const ProgressLine &) = delete;
    ProgressLine &operator=(const ProgressLine &) = delete;
    ~ProgressLine(); /* clears the line */

    /* Replaces the text, at most ten times a second. */
    void show(const std::string &text);

    double seconds() const { return since_start_.seconds(); }

  private:
    bool terminal_;
    bool shown_ = false;
    Stopwatch since_start_;
    Stopwatch since_last_;
};

} // namespace ckpt::cli
