/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log.cpp - the agent's log, kept in memory until its file can be opened.
 */
#include "agent/base/log.hpp"

#include "agent/base/crash_handler.hpp"
#include "agent/base/log_writer.hpp"
#include "common/error.hpp"
#include "common/files/files.hpp"
#include "image/store/job_directory.hpp"
#include "settings/environment.hpp"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

namespace ckpt
{

namespace
{

constexpr std::size_t lines_kept = 200;
constexpr const char *pattern = "%Y-%m-%d %H:%M:%S.%e ckptd[%P] %l: %v";

/* The event loop writes to the log and must not wait for a file system that hangs. This holds
 * for the file system with the log file, and while another thread opens that file. */
class BoundedSink : public spdlog::sinks::base_sink<std::mutex>
{
  public:
    /* Lines that are not in a file yet, and the number of all lines so far. */
    struct Early {
        std::string text;
        std::uint64_t count = 0;
    };

    bool has_file()
    {
        std::lock_guard lock(mutex_);
        return writer_.has_value();
    }

    Early early()
    {
        std::lock_guard lock(mutex_);
        Early lines{{}, count_};
        for (const std::string &line : early_) {
            lines.text += line;
        }
        return lines;
    }

    /* Sends lines to the file from now on. The file already has the first `written` lines.
     * Returns false if another file is in use. */
    bool use(Fd file, std::uint64_t written)
    {
        std::lock_guard lock(mutex_);
        if (writer_) {
            return false;
        }
        writer_.emplace(std::move(file));
        for (std::uint64_t next = count_ - early_.size(); const std::string &line : early_) {
            if (next++ >= written) {
                writer_->write(line);
            }
        }
        early_.clear();
        return true;
    }

  protected:
    void sink_it_(const spdlog::details::log_msg &message) override
    {
        spdlog::memory_buf_t buffer;
        formatter_->format(message, buffer);
        std::string line(buffer.data(), buffer.size());
        count_++;
        if (writer_) {
            writer_->write(std::move(line));
            return;
        }
        early_.push_back(std::move(line));
        if (early_.size() > lines_kept) {
            early_.pop_front();
        }
    }
    void flush_() override {}

  private:
    std::uint64_t count_ = 0;       /* number of lines so far */
    std::deque<std::string> early_; /* the latest lines, until there is a file */
    std::optional<LogWriter> writer_;
};

std::shared_ptr<BoundedSink> sink; /* null: nothing is logged */

void append(int file, std::string_view text, const std::filesystem::path &path)
{
    while (!text.empty()) {
        const ssize_t put = ::write(file, text.data(), text.size());
        if (put < 0) {
            fail_errno(errno, "cannot write log {}", path.string());
        }
        text.remove_prefix(static_cast<std::size_t>(put));
    }
}

} // namespace

std::filesystem::path log_path(const std::filesystem::path &directory,
                               const std::string &host)
{
    return directory / ("ckptd-" + host + ".log");
}

void start_log()
{
    sink = std::make_shared<BoundedSink>();
    auto logger = std::make_shared<spdlog::logger>("ckptd", sink);

    logger->set_level(spdlog::level::from_str(settings::from_environment("CKPT_LOG_LEVEL")));
    logger->flush_on(spdlog::level::trace);
    logger->set_pattern(pattern);
    spdlog::set_default_logger(std::move(logger));
}

void open_log(const std::filesystem::path &directory, const std::string &host)
{
    const std::filesystem::path path = log_path(directory, host);

    if (!sink || sink->has_file()) {
        return;
    }
    make_job_directory(directory);
    Fd file = open_file(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600,
                        "log");
    const auto early = sink->early();
    append(file.get(), early.text, path);
    Fd again(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
    if (!again) {
        fail_errno(errno, "cannot write log {}", path.string());
    }
    if (sink->use(std::move(again), early.count)) {
        install_crash_handler(std::move(file));
    }
}

} // namespace ckpt
