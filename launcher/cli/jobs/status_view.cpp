/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * status_view.cpp - formats the status lines, each with a keyword.
 */
#include "cli/jobs/status_view.hpp"

#include "cli/jobs/jobs.hpp"
#include "cli/jobs/own_status.hpp"
#include "common/durations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ckpt::cli
{

namespace
{

using control::Status;

constexpr int bar_width = 24;

class Lines
{
  public:
    template <typename... Args>
    void add(const char *word, fmt::format_string<Args...> format, Args &&...args)
    {
        lines_.push_back(fmt::format("{:<12}{}", word,
                                     fmt::format(format, std::forward<Args>(args)...)));
    }

    std::vector<std::string> take() { return std::move(lines_); }

  private:
    std::vector<std::string> lines_;
};

/* "0-3,7" */
std::string ranks_text(const control::NodeStatus &node)
{
    std::string text;
    for (auto [first, last] : node.ranks) {
        text += text.empty() ? "" : ",";
        text += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    }
    return text;
}

std::string bar(int done, int all)
{
    const int filled = all > 0 ? std::clamp(done * bar_width / all, 0, bar_width) : 0;
    return fmt::format("[{:.<{}}]", std::string(static_cast<std::size_t>(filled), '#'),
                       bar_width);
}

/* Formats how long ago something happened, in seconds. */
std::string age(double since, double now)
{
    const double seconds = std::max(0.0, now - since);
    return seconds < 1 ? "just now" : fmt::format("{} ago", format_seconds(seconds));
}

void add_job(Lines &lines, const Status &status, double now)
{
    lines.add("job", "{}: {}, since {} ({})", status.job, status.phase,
              day_and_time(status.started),
              format_seconds(std::max(0.0, now - status.started)));
    lines.add("program", "{} of {}, {} on {}",
              is_alone(status) ? "one process" : counted(status.rank_count, "rank"),
              status.application, launcher_text(status), status.host);
    for (const control::NodeStatus &node : status.nodes) {
        lines.add(&node == &status.nodes.front() ? "nodes" : "", "{}: {} {}{}", node.host,
                  node.ranks.size() == 1 && node.ranks[0].first == node.ranks[0].second
                      ? "rank"
                      : "ranks",
                  ranks_text(node), node.connected ? "" : "; its agent is lost");
    }
    lines.add("settings", "protocol {}, snapshot {}, codec {}{}", status.protocol,
              status.snapshot, status.codec,
              status.increments > 0 ? fmt::format(", incremental {}", status.increments)
                                    : "");
    lines.add("directory", "{}", status.directory);
}

void add_last(Lines &lines, const Status &status, double now)
{
    const control::Result &last = status.last;
    if (last.number == 0) {
        return;
    }
    const double rate =
        static_cast<double>(last.bytes) / std::max(last.timings.total, 1e-9) * 1e-6;
    lines.add("last", "{}, {}, by {} with {}{}", last.name, age(status.last_at, now),
              last.protocol, last.snapshot,
              last.standing > 0 ? fmt::format(", {} ranks with stop", last.standing) : "");
    lines.add("", "{} of {} memory ({:.0f} %) in {}, {:.0f} MB/s; ranks stood still for {}",
              format_bytes(last.bytes), format_bytes(last.memory_bytes),
              100.0 * static_cast<double>(last.bytes) /
                  static_cast<double>(std::max<std::uint64_t>(last.memory_bytes, 1)),
              format_seconds(last.timings.total), rate, format_seconds(last.timings.stop));
}

void add_progress(Lines &lines, const Status &status)
{
    const control::Progress &now = status.progress;
    if (!status.waits_for.empty()) {
        lines.add("now", "a checkpoint waits: {}", status.waits_for);
    } else if (!now.phase.empty()) {
        lines.add("now", "{} {} {} of {} ranks{}, {}{}", now.phase,
                  bar(now.ranks_done, now.rank_count), now.ranks_done, now.rank_count,
                  now.bytes_done > 0
                      ? fmt::format(", {} written", format_bytes(now.bytes_done))
                      : "",
                  format_seconds(now.seconds),
                  status.last.number != 0
                      ? fmt::format(" (the last one took {})",
                                    format_seconds(status.last.timings.total))
                      : "");
    }
}

void add_next(Lines &lines, const Status &status)
{
    if (status.interval <= 0) {
        lines.add("next", "when it is asked for");
        return;
    }
    lines.add("next", "{}every {}",
              status.next_in < 0 ? "" : fmt::format("in {}, ", format_seconds(status.next_in)),
              format_seconds(status.interval));
    if (status.automatic) {
        lines.add("", "{}; a failure every {}{}",
                  status.cost > 0 ? fmt::format("one costs {}", format_seconds(status.cost))
                                  : "what one costs is not known yet",
                  format_seconds(status.mtbf), status.mtbf_is_given ? ", as was given" : "");
    }
}

void add_slow(Lines &lines, const Status &status)
{
    if (status.slow_directory.empty()) {
        return;
    }
    if (status.redundancy != "none" && !status.redundancy.empty()) {
        lines.add("survives", "lost nodes ({}): {}", status.redundancy,
                  status.redundant != 0 ? fmt::format("{}/{}", status.job, status.redundant)
                                        : "nothing yet");
        if (!status.redundancy_error.empty()) {
            lines.add("", "does not: {}", status.redundancy_error);
        }
    }
    lines.add("copied to", "{}: {}{}", status.slow_directory,
              status.flushed != 0 ? fmt::format("{}/{}", status.job, status.flushed)
                                  : "nothing yet",
              status.flushing != 0
                  ? fmt::format(", {}/{} is on its way", status.job, status.flushing)
                  : "");
    if (!status.flush_error.empty()) {
        lines.add("", "not copied: {}", status.flush_error);
    }
}

/* Adds the independent checkpoints and message logs of ranks, and how they were
 * used. */
void add_independent(Lines &lines, const Status &status, double now)
{
    for (const control::IndependentStatus &rank : status.independent) {
        lines.add(&rank == &status.independent.front() ? "independent" : "",
                  "rank {}: {} kept, interval {} (newest: {}), log {} ({} logged, {} trimmed)",
                  rank.rank, rank.kept, rank.interval, rank.kept_interval,
                  format_bytes(rank.log_bytes), format_bytes(rank.logged_bytes),
                  format_bytes(rank.trimmed_bytes));
    }
    const control::Capped &capped = status.capped;
    if (capped.taken != 0) {
        lines.add("log cap", "{}/{}, {}: {} taken, as ranks {} did not take the requested "
                             "independent checkpoint",
                  status.job,
                  capped.number, age(capped.at, now), capped.taken,
                  fmt::join(capped.ranks, ", "));
    }
    const control::Salvage &salvaged = status.salvaged;
    if (salvaged.number != 0) {
        lines.add("salvaged", "{}/{}, {}: rank {} was replayed", status.job, salvaged.number,
                  age(salvaged.at, now), salvaged.rank);
    }
    if (!salvaged.error.empty()) {
        lines.add("no replay", "{}", salvaged.error);
    }
    const control::InPlace &in_place = status.in_place;
    if (in_place.kept != 0) {
        lines.add("copies", "of the ranks at {}/{}{}", status.job, in_place.kept,
                  in_place.standby == 0 ? "" : "; others stand by");
    } else if (!in_place.why_none.empty()) {
        lines.add("copies", "none are kept: {}", in_place.why_none);
    }
    if (in_place.number != 0) {
        lines.add("recovered", "to {}/{}, {}, in {}: rank {} had died; {} in all", status.job,
                  in_place.number, age(in_place.at, now), format_seconds(in_place.seconds),
                  in_place.rank, in_place.count);
    } else if (in_place.count != 0) {
        lines.add("replayed", "in place, {}, in {}: rank {} had died; {} in all",
                  age(in_place.at, now), format_seconds(in_place.seconds), in_place.rank,
                  in_place.count);
    }
    if (!in_place.error.empty()) {
        lines.add("no recovery", "{}", in_place.error);
    }
}

/* Of a swapped-out job nothing else is known. */
std::vector<std::string> swapped_out_view(const Status &status, double now)
{
    Lines lines;

    add_job(lines, status, now);
    if (status.last.number != 0) {
        lines.add("last", "{} ({}), {}", status.last.name, format_bytes(status.last.bytes),
                  age(status.last_at, now));
    }
    lines.add("next", "ckpt resume {} brings it back", status.job);
    return lines.take();
}

} // namespace

std::string day_and_time(double seconds)
{
    return format_time(static_cast<std::int64_t>(seconds) * 1'000'000'000).substr(0, 19) +
           "Z";
}

std::vector<std::string> status_view(const Status &status, double now)
{
    Lines lines;

    if (is_swapped_out(status)) {
        return swapped_out_view(status, now);
    }
    add_job(lines, status, now);
    lines.add("checkpoints", "{} taken, {} failed; {} earlier launches have failed",
              status.committed, status.failed, status.failures);
    add_last(lines, status, now);
    add_progress(lines, status);
    add_next(lines, status);
    add_slow(lines, status);
    add_independent(lines, status, now);
    if (status.unprotected_since > 0) {
        lines.add("UNPROTECTED", "since {}", day_and_time(status.unprotected_since));
    }
    if (!status.last_error.empty()) {
        lines.add("last error", "{}", last_failure(status).text());
    }
    return lines.take();
}

} // namespace ckpt::cli
