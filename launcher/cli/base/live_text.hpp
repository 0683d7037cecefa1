/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * live_text.hpp - lines on standard output that newer lines replace. On a terminal they
 * are drawn in the same place, elsewhere below, after an empty line.
 */
#pragma once

#include <string>
#include <vector>

namespace ckpt::cli
{

class LiveText
{
  public:
    LiveText();

    /* Drops control characters. On a terminal, truncates long lines, and omits lines that
     * do not fit. */
    void show(std::vector<std::string> lines);

  private:
    void fit(std::vector<std::string> &lines) const;

    const bool terminal_;
    bool is_first_ = true;
    std::size_t shown_ = 0; /* lines drawn on the terminal */
};

} // namespace ckpt::cli
