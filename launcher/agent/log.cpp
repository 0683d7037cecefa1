/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log.cpp - the agent's log: kept in memory until its file can be opened.
 */
#include "agent/log.hpp"

#include "agent/last_words.hpp"
#include "agent/log_writer.hpp"
#include "common/error.hpp"
#include "common/files.hpp"
#include "image/job_directory.hpp"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/spdlog.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>

namespace ckpt
{

namespace
{

constexpr std::size_t lines_kept = 200;
constexpr const char *pattern = "%Y-%m-%d %H:%M:%S.%e ckptd[%P] %l: %v";

std::shared_ptr<spdlog::sinks::ringbuffer_sink_mt> early_lines;

/* The event loop writes to the log, and must not wait for a file system that hangs. */
class PatientSink : public spdlog::sinks::base_sink<std::mutex>
{
  public:
    explicit PatientSink(Fd file) : writer_(std::move(file)) {}

  protected:
    void sink_it_(const spdlog::details::log_msg &message) override
    {
        spdlog::memory_buf_t line;
        formatter_->format(message, line);
        writer_.write({line.data(), line.size()});
    }
    void flush_() override {}

  private:
    LogWriter writer_;
};

void use_sink(spdlog::sink_ptr sink)
{
    auto logger = std::make_shared<spdlog::logger>("ckptd", std::move(sink));
    const char *level = std::getenv("CKPT_LOG_LEVEL");

    logger->set_level(spdlog::level::from_str(level ? level : "info"));
    logger->flush_on(spdlog::level::trace);
    logger->set_pattern(pattern);
    spdlog::set_default_logger(std::move(logger));
}

} // namespace

std::filesystem::path log_path(const std::filesystem::path &directory,
                               const std::string &host)
{
    return directory / ("ckptd-" + host + ".log");
}

void start_log()
{
    early_lines =
        std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(lines_kept);
    use_sink(early_lines);
}

void open_log(const std::filesystem::path &directory, const std::string &host)
{
    std::filesystem::path path = log_path(directory, host);

    if (!early_lines) {
        return;
    }
    make_job_directory(directory);
    Fd file = open_file(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600,
                        "log");
    for (const std::string &line : early_lines->last_formatted()) {
        if (::write(file.get(), line.data(), line.size()) < 0) {
            fail_errno(errno, "cannot write log {}", path.string());
        }
    }
    Fd again(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
    if (!again) {
        fail_errno(errno, "cannot write log {}", path.string());
    }
    use_sink(std::make_shared<PatientSink>(std::move(again)));
    early_lines.reset();
    write_last_words(std::move(file));
}

} // namespace ckpt
