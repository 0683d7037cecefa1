/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress_line.cpp - draws and clears the progress line.
 */
#include "cli/base/progress_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include <sys/ioctl.h>
#include <unistd.h>

namespace ckpt::cli
{

namespace
{

constexpr double quiet_seconds = 1.0;
constexpr double redraw_seconds = 0.1;
constexpr const char *clear_line = "\r\033[K";

std::size_t terminal_width()
{
    winsize size{};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0) {
        return 80;
    }
    return size.ws_col;
}

} // namespace

ProgressLine::ProgressLine()
    : terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine()
{
    if (shown_) {
        std::fputs(clear_line, stderr);
    }
}

void ProgressLine::show(const std::string &text)
{
    if (!terminal_ || seconds() < quiet_seconds ||
        (shown_ && since_last_.seconds() < redraw_seconds)) {
        return;
    }
    std::string line = "ckpt: " + text;
    line.resize(std::min(line.size(), terminal_width() - 1));
    fmt::print(stderr, "{}{}", clear_line, line);
    std::fflush(stderr);
    shown_ = true;
    since_last_ = Stopwatch();
}

} // namespace ckpt::cli
