/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * metrics.cpp - names and meanings of the metrics.
 */
#include "agent/control/metrics.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace ckpt
{

namespace
{

using control::Status;
using Labels = std::vector<std::pair<std::string, std::string>>;

/* A quantity with at most one value per job. */
struct Metric {
    const char *name;
    const char *type;
    const char *help;
    std::optional<double> (*value)(const Status &);
};

std::optional<double> number(std::uint64_t value)
{
    return static_cast<double>(value);
}

std::optional<double> above_zero(double value)
{
    return value > 0 ? std::optional(value) : std::nullopt;
}

/* Returns the value if there is a newest checkpoint. */
std::optional<double> of_last(const Status &status, double value)
{
    return status.last.number != 0 ? std::optional(value) : std::nullopt;
}

/* Returns the value if the job has two directories. */
std::optional<double> of_slow(const Status &status, double value)
{
    return !status.slow_directory.empty() ? std::optional(value) : std::nullopt;
}

bool is_saving(const Status &status)
{
    return !status.progress.phase.empty();
}

constexpr Metric metrics[] = {
    {"ckpt_job_start_time_seconds", "gauge",
     "When this launch of the job began, in seconds since 1970.",
     [](const Status &s) { return above_zero(s.started); }},
    {"ckpt_job_ranks", "gauge", "Ranks of the job.",
     [](const Status &s) { return number(s.rank_count); }},
    {"ckpt_job_failures_total", "counter", "Failed launches and recoveries in place.",
     [](const Status &s) { return number(s.failures); }},
    {"ckpt_checkpoints_committed_total", "counter", "Checkpoints taken by this launch.",
     [](const Status &s) { return number(s.committed); }},
    {"ckpt_checkpoints_failed_total", "counter",
     "Checkpoint attempts of this launch that failed.",
     [](const Status &s) { return number(s.failed); }},
    {"ckpt_unprotected_since_seconds", "gauge",
     "Since when periodic checkpoints fail, in seconds since 1970; 0: they do not.",
     [](const Status &s) {
         return s.interval > 0 ? number(s.unprotected_since) : std::nullopt;
     }},
    {"ckpt_written_bytes_total", "counter", "Bytes of the checkpoints of this launch.",
     [](const Status &s) { return number(s.totals.bytes); }},
    {"ckpt_saved_memory_bytes_total", "counter", "Memory of ranks that they contain.",
     [](const Status &s) { return number(s.totals.memory_bytes); }},
    {"ckpt_checkpoint_seconds_total", "counter",
     "From the requests for these checkpoints until they were there.",
     [](const Status &s) { return std::optional(s.totals.seconds); }},
    {"ckpt_stopped_seconds_total", "counter",
     "That the rank stood still for them which did so longest.",
     [](const Status &s) { return std::optional(s.totals.stopped); }},
    {"ckpt_checkpoint_under_way", "gauge", "1 while a checkpoint is taken, else 0.",
     [](const Status &s) { return number(is_saving(s) ? 1 : 0); }},
    {"ckpt_last_checkpoint_number", "gauge", "The newest checkpoint of this launch.",
     [](const Status &s) { return of_last(s, static_cast<double>(s.last.number)); }},
    {"ckpt_last_checkpoint_time_seconds", "gauge",
     "When it was there, in seconds since 1970.",
     [](const Status &s) { return of_last(s, s.last_at); }},
    {"ckpt_last_checkpoint_bytes", "gauge", "Its size.",
     [](const Status &s) { return of_last(s, static_cast<double>(s.last.bytes)); }},
    {"ckpt_last_checkpoint_memory_bytes", "gauge", "Memory of ranks that it contains.",
     [](const Status &s) { return of_last(s, static_cast<double>(s.last.memory_bytes)); }},
    {"ckpt_last_checkpoint_duration_seconds", "gauge",
     "From the request for it until it was there.",
     [](const Status &s) { return of_last(s, s.last.timings.total); }},
    {"ckpt_last_checkpoint_stopped_seconds", "gauge",
     "That the rank stood still for it which did so longest.",
     [](const Status &s) { return of_last(s, s.last.timings.stop); }},
    {"ckpt_interval_seconds", "gauge", "Time between two checkpoints.",
     [](const Status &s) { return above_zero(s.interval); }},
    {"ckpt_next_checkpoint_seconds", "gauge", "Time until the next one.",
     [](const Status &s) {
         return s.next_in >= 0 ? std::optional(s.next_in) : std::nullopt;
     }},
    {"ckpt_checkpoint_cost_seconds", "gauge",
     "How much later the job ends for a checkpoint, as the automatic interval has it.",
     [](const Status &s) { return s.automatic ? above_zero(s.cost) : std::nullopt; }},
    {"ckpt_mtbf_seconds", "gauge",
     "Mean time between failures, as the automatic interval has it.",
     [](const Status &s) { return s.automatic ? above_zero(s.mtbf) : std::nullopt; }},
    {"ckpt_slow_checkpoint_number", "gauge",
     "The newest checkpoint that this launch has copied to the slow directory; 0: none.",
     [](const Status &s) { return of_slow(s, static_cast<double>(s.flushed)); }},
    {"ckpt_slow_copy_under_way", "gauge", "1 while one is copied there, else 0.",
     [](const Status &s) { return of_slow(s, s.flushing != 0 ? 1 : 0); }},
    {"ckpt_slow_copy_failed", "gauge", "1 if the last one could not be copied, else 0.",
     [](const Status &s) { return of_slow(s, s.flush_error.empty() ? 0 : 1); }},
    {"ckpt_last_salvage_time_seconds", "gauge",
     "When the job was last saved after the death of a rank, in seconds since 1970.",
     [](const Status &s) { return above_zero(s.salvaged.at); }},
    {"ckpt_log_cap_checkpoints_total", "counter",
     "Checkpoints of all ranks that were taken because some took none of themselves.",
     [](const Status &s) {
         return s.independent.empty() ? std::nullopt : number(s.capped.taken);
     }},
    {"ckpt_redundant_checkpoint_number", "gauge",
     "The newest checkpoint of this launch that survives the loss of nodes; 0: none.",
     [](const Status &s) { return of_slow(s, static_cast<double>(s.redundant)); }},
    {"ckpt_redundancy_failed", "gauge",
     "1 if the last one does not survive it, else 0.",
     [](const Status &s) { return of_slow(s, s.redundancy_error.empty() ? 0 : 1); }},
};

constexpr const char *swapped_out_state = "swapped_out";
constexpr const char *states[] = {"starting", "running", "saving", "held",
                                  "ending", "ended", "failed", swapped_out_state,
                                  control::interrupted};

std::string state_of(const Status &status)
{
    return is_saving(status)                      ? "saving"
           : status.phase == control::swapped_out ? swapped_out_state
                                                  : status.phase;
}

std::string escaped(const std::string &text)
{
    std::string result;
    for (char letter : text) {
        result += letter == '\\'   ? std::string("\\\\")
                  : letter == '"'  ? std::string("\\\"")
                  : letter == '\n' ? std::string("\\n")
                                   : std::string(1, letter);
    }
    return result;
}

/* Samples of one metric, after the lines that describe it. */
class Family
{
  public:
    Family(const char *name, const char *type, const char *help)
        : name_(name),
          head_(fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type))
    {
    }

    void add(const Status &status, const Labels &more, double value)
    {
        std::string labels = fmt::format("job=\"{}\",host=\"{}\"", escaped(status.job),
                                         escaped(status.host));
        for (const auto &[label, text] : more) {
            labels += fmt::format(",{}=\"{}\"", label, escaped(text));
        }
        samples_ += fmt::format("{}{{{}}} {}\n", name_, labels, value);
    }

    /* Returns "" without samples. */
    std::string text() const { return samples_.empty() ? "" : head_ + samples_; }

  private:
    std::string name_;
    std::string head_;
    std::string samples_;
};

std::string info_text(const std::vector<Status> &jobs)
{
    Family family("ckpt_job_info", "gauge", "1, with what the job is, as labels.");
    for (const Status &job : jobs) {
        family.add(job,
                   {{"application", job.application},
                    {"directory", job.directory},
                    {"protocol", job.protocol},
                    {"snapshot", job.snapshot},
                    {"codec", job.codec}},
                   1);
    }
    return family.text();
}

std::string state_text(const std::vector<Status> &jobs)
{
    Family family("ckpt_job_state", "gauge", "1 for the state that the job is in, else 0.");
    for (const Status &job : jobs) {
        for (const char *state : states) {
            family.add(job, {{"state", state}}, state_of(job) == state ? 1 : 0);
        }
    }
    return family.text();
}

std::string nodes_text(const std::vector<Status> &jobs)
{
    Family ranks("ckpt_node_ranks", "gauge", "Ranks on a node of the job.");
    Family connected("ckpt_node_connected", "gauge",
                     "1 if the agent of a node of the job is there, else 0.");
    for (const Status &job : jobs) {
        for (const control::NodeStatus &node : job.nodes) {
            int count = 0;
            for (auto [first, last] : node.ranks) {
                count += last - first + 1;
            }
            ranks.add(job, {{"node", node.host}}, count);
            connected.add(job, {{"node", node.host}}, node.connected ? 1 : 0);
        }
    }
    return ranks.text() + connected.text();
}

std::string refusals_text(const std::vector<Status> &jobs)
{
    Family family("ckpt_refusals_total", "counter",
                  "Checkpoints of this launch that were refused or failed, by the reason's name in "
                  "ckpt-errors(7).");
    for (const Status &job : jobs) {
        for (const auto &[name, count] : job.refusals) {
            family.add(job, {{"refusal", name}}, static_cast<double>(count));
        }
    }
    return family.text();
}

/* A quantity with one value per rank with independent checkpoints. */
struct IndependentMetric {
    const char *name;
    const char *type;
    const char *help;
    std::uint64_t control::IndependentStatus::*value;
};

constexpr IndependentMetric independent_metrics[] = {
    {"ckpt_independent_checkpoints_total", "counter",
     "Independent checkpoints that a rank has taken.", &control::IndependentStatus::kept},
    {"ckpt_independent_interval", "gauge",
     "Intervals between synchronisation calls that a rank has been through.",
     &control::IndependentStatus::interval},
    {"ckpt_independent_kept_interval", "gauge", "The same, at its newest independent checkpoint.",
     &control::IndependentStatus::kept_interval},
    {"ckpt_independent_log_bytes", "gauge", "Bytes in a rank's logs of accesses to windows.",
     &control::IndependentStatus::log_bytes},
    {"ckpt_independent_logged_bytes_total", "counter", "Bytes ever written to them.",
     &control::IndependentStatus::logged_bytes},
    {"ckpt_independent_trimmed_bytes_total", "counter", "Bytes removed from them.",
     &control::IndependentStatus::trimmed_bytes},
    {"ckpt_independent_payload_bytes_total", "counter",
     "Bytes that a rank has sent to windows and read from them.",
     &control::IndependentStatus::payload_bytes},
    {"ckpt_independent_control_bytes_total", "counter",
     "Bytes that it has told to other ranks, for them to trim their logs.",
     &control::IndependentStatus::control_bytes},
    {"ckpt_independent_logging_nanoseconds_total", "counter",
     "Time that it has spent on its logs, from samples.", &control::IndependentStatus::logging_ns},
    {"ckpt_independent_keeping_nanoseconds_total", "counter",
     "Time that it has spent on independent checkpoints.", &control::IndependentStatus::keeping_ns},
};

std::string independent_text(const std::vector<Status> &jobs)
{
    std::string text;
    for (const IndependentMetric &metric : independent_metrics) {
        Family family(metric.name, metric.type, metric.help);
        for (const Status &job : jobs) {
            for (const control::IndependentStatus &rank : job.independent) {
                family.add(job, {{"rank", std::to_string(rank.rank)}},
                           static_cast<double>(rank.*metric.value));
            }
        }
        text += family.text();
    }
    return text;
}

std::string time_text(const std::vector<Status> &jobs, double now)
{
    Family family("ckpt_report_time_seconds", "gauge",
                  "When this was reported, in seconds since 1970.");
    for (const Status &job : jobs) {
        family.add(job, {}, now);
    }
    return family.text();
}

} // namespace

std::string metrics_text(const std::vector<Status> &jobs, double now)
{
    std::string text = info_text(jobs) + state_text(jobs) + time_text(jobs, now);
    for (const Metric &metric : metrics) {
        Family family(metric.name, metric.type, metric.help);
        for (const Status &job : jobs) {
            if (auto value = metric.value(job)) {
                family.add(job, {}, *value);
            }
        }
        text += family.text();
    }
    return text + refusals_text(jobs) + nodes_text(jobs) + independent_text(jobs);
}

} // namespace ckpt
