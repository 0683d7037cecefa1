/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * metrics_file.cpp - when and how the file is written.
 */
#include "agent/control/metrics_file.hpp"

#include "agent/control/metrics.hpp"
#include "common/durations.hpp"
#include "common/files/new_file.hpp"

#include <spdlog/spdlog.h>

#include <span>
#include <utility>

namespace ckpt
{

namespace
{

constexpr auto longest_silence = std::chrono::seconds(15);
/* The collector runs as another user and must be able to read the file. */
void replace_file(const std::filesystem::path &path, const std::string &text)
{
    NewFile file(path, "file of metrics", NewFile::Purpose::to_inform);

    file.write(std::as_bytes(std::span(text)), 0);
    file.publish();
}

} // namespace

std::filesystem::path metrics_path(const std::string &pattern, const std::string &host,
                                   const std::string &job)
{
    std::string path;

    for (std::size_t i = 0; i < pattern.size(); i++) {
        const char next = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : 0;
        if (next == 'h' || next == 'j' || next == '%') {
            path += next == 'h' ? host : next == 'j' ? job
                                                     : "%";
            i++;
        } else {
            path += pattern[i];
        }
    }
    return path;
}

MetricsFile::MetricsFile(std::string pattern)
    : pattern_(std::move(pattern)) {}

void MetricsFile::update(Time now, const Milestones &reached,
                         const std::function<control::Status()> &status)
{
    if ((reached == told_ && now < due_) || !writer_.idle()) {
        return;
    }
    told_ = reached;
    due_ = now + longest_silence;
    write(status());
}

void MetricsFile::end(const control::Status &status)
{
    write(status);
    writer_.stop();
}

MetricsFile::Time MetricsFile::next_tick(Time now) const
{
    /* changes that came while the writer was busy are written soon */
    return writer_.idle() ? std::max(now, due_) : now + std::chrono::milliseconds(100);
}

void MetricsFile::write(const control::Status &status)
{
    writer_.run([this, status, path = metrics_path(pattern_, status.host, status.job)] {
        try {
            const double now = static_cast<double>(now_nanoseconds()) * 1e-9;
            replace_file(path, metrics_text({status}, now));
        } catch (const std::exception &error) {
            if (!std::exchange(has_warned_, true)) {
                spdlog::warn("{}", error.what());
            }
        }
    });
}

} // namespace ckpt
