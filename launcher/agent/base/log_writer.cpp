/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log_writer.cpp - appends lines to a file whose file system may hang for a
 * while.
 */
#include "config.h"
#include "agent/base/log_writer.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

namespace ckpt
{

namespace
{

void append(int fd, std::string_view text)
{
    while (!text.empty()) {
        const ssize_t put = ::write(fd, text.data(), text.size());
        if (put < 0 && errno != EINTR) {
            return;
        }
        text.remove_prefix(put < 0 ? 0 : static_cast<std::size_t>(put));
    }
}

} // namespace

struct LogWriter::State {
    State(Fd fd, std::chrono::milliseconds time)
        : file(std::move(fd)), timeout(time) {}

    void work();
    /* Waits until all lines are written, at most for `timeout`. The caller holds the lock. */
    void wait(std::unique_lock<std::mutex> &lock);

    const Fd file;
    const std::chrono::milliseconds timeout;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::string> lines;
    std::uint64_t lost = 0;
    bool is_writing = false;
    bool is_late = false; /* write() does not wait */
    bool is_ending = false;
};

void LogWriter::State::work()
{
    std::unique_lock lock(mutex);

    for (;;) {
        changed.wait(lock, [this] { return is_ending || !lines.empty(); });
        if (lines.empty()) {
            return;
        }
        std::string line = std::move(lines.front());
        lines.pop_front();
        if (lines.empty() && lost > 0) {
            line += fmt::format("{} more lines are lost: the file did not take them\n",
                                std::exchange(lost, 0));
        }
        is_writing = true;
        lock.unlock();
        append(file.get(), line);
        lock.lock();
        is_writing = false;
        is_late = is_late && !lines.empty();
        changed.notify_all();
    }
}

void LogWriter::State::wait(std::unique_lock<std::mutex> &lock)
{
    if (!is_late) {
        is_late = !changed.wait_for(lock, timeout,
                                    [this] { return lines.empty() && !is_writing; });
    }
}

LogWriter::LogWriter(Fd file, std::chrono::milliseconds timeout)
    : state_(std::make_shared<State>(std::move(file), timeout))
{
    std::thread([state = state_] { state->work(); }).detach();
}

LogWriter::~LogWriter()
{
    std::unique_lock lock(state_->mutex);

    state_->is_ending = true;
    state_->changed.notify_all();
    state_->wait(lock);
}

void LogWriter::write(std::string line)
{
    std::unique_lock lock(state_->mutex);

    if (state_->lines.size() >= most_lines) {
        state_->lost++;
        return;
    }
    state_->lines.push_back(std::move(line));
    state_->changed.notify_all();
    state_->wait(lock);
}

} // namespace ckpt
