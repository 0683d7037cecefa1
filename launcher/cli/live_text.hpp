/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * live_text.hpp - lines on standard output that are replaced by newer ones: on a terminal
 * in their place, else each time below, after an empty line.
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

    /* Control characters are not passed on; lines that are too long are cut on a
     * terminal, and what is too much for it is left out. */
    void show(std::vector<std::string> lines);

  private:
    void fit(std::vector<std::string> &lines) const;

    const bool terminal_;
    bool is_first_ = true;
    std::size_t shown_ = 0; /* lines on the terminal that are ours */
};

} // namespace ckpt::cli
