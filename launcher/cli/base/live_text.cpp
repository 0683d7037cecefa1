/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * live_text.cpp - draws lines on a terminal.
 */
#include "cli/base/live_text.hpp"

#include "common/invariant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include <sys/ioctl.h>
#include <unistd.h>

namespace ckpt::cli
{

namespace
{

constexpr winsize usual_size = {24, 80, 0, 0};

winsize terminal_size()
{
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0 ||
        size.ws_row == 0) {
        return usual_size;
    }
    return size;
}

bool is_control(char letter)
{
    return static_cast<unsigned char>(letter) < ' ' || letter == '\x7f';
}

} // namespace

LiveText::LiveText()
    : terminal_(isatty(STDOUT_FILENO) == 1) {}

void LiveText::show(std::vector<std::string> lines)
{
    for (std::string &line : lines) {
        std::replace_if(line.begin(), line.end(), is_control, ' ');
    }
    if (terminal_) {
        fit(lines);
        /* Moves to the first line drawn earlier, and clears everything
         * below. */
        fmt::print("{}\r\033[J", shown_ > 0 ? fmt::format("\033[{}A", shown_) : "");
        shown_ = lines.size();
    } else if (!is_first_) {
        fmt::print("\n");
    }
    is_first_ = false;
    for (const std::string &line : lines) {
        fmt::print("{}\n", line);
    }
    std::fflush(stdout);
}

void LiveText::fit(std::vector<std::string> &lines) const
{
    const winsize size = terminal_size();

    CKPT_INVARIANT(size.ws_row > 0 && size.ws_col > 0);
    lines.resize(std::min<std::size_t>(lines.size(), size.ws_row - 1));
    for (std::string &line : lines) {
        line.resize(std::min<std::size_t>(line.size(), size.ws_col - 1));
    }
}

} // namespace ckpt::cli
