/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_metrics.cpp - the text for Prometheus, parsed by its rules.
 */
#include "config.h"

#include "agent/control/metrics.hpp"
#include "tests/cli/cli_fixture.hpp"
#include "tests/agent/fake_agent.hpp"

#include <charconv>
#include <map>
#include <regex>
#include <set>
#include <sstream>

using namespace ckpt;
using namespace ckpt::cli;
using namespace ckpt::test;

namespace
{

/* Samples by name and labels, as written. The test fails on anything that version 0.0.4 of the
 * format forbids, and on anything allowed that we do not want. */
class Exposition
{
  public:
    explicit Exposition(const std::string &text)
    {
        EXPECT_TRUE(text.empty() || text.back() == '\n');
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            read(line);
        }
    }

    double value(const std::string &sample) const
    {
        EXPECT_TRUE(samples_.contains(sample)) << sample;
        return samples_.contains(sample) ? samples_.at(sample) : -1;
    }

    bool has(const std::string &sample) const { return samples_.contains(sample); }
    std::size_t size() const { return samples_.size(); }

  private:
    void read(const std::string &line)
    {
        static const std::regex help(R"(# HELP (ckpt_[a-z_]+) (\S.*))");
        static const std::regex type(R"(# TYPE (ckpt_[a-z_]+) (gauge|counter))");
        static const std::regex sample(
            R"((ckpt_[a-z_]+)(\{[a-z_]+="(?:[^"\\]|\\["\\n])*")"
            R"((?:,[a-z_]+="(?:[^"\\]|\\["\\n])*")*\}) (\S+))");
        std::smatch found;
        if (std::regex_match(line, found, help)) {
            family_ = found[1];
            EXPECT_TRUE(families_.insert(family_).second) << line << ": twice";
            is_typed_ = false;
        } else if (std::regex_match(line, found, type)) {
            EXPECT_EQ(found[1], family_) << line;
            EXPECT_FALSE(is_typed_) << line;
            EXPECT_EQ(found[2] == "counter", family_.ends_with("_total")) << line;
            is_typed_ = true;
        } else if (std::regex_match(line, found, sample)) {
            EXPECT_TRUE(is_typed_ && found[1] == family_) << line;
            add(found[1].str() + found[2].str(), found[3]);
        } else {
            ADD_FAILURE() << "not understood: " << line;
        }
    }

    void add(const std::string &sample, const std::string &text)
    {
        double value = 0;
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        EXPECT_TRUE(error == std::errc() && end == text.data() + text.size()) << text;
        EXPECT_TRUE(samples_.emplace(sample, value).second) << sample << ": twice";
    }

    std::string family_;
    bool is_typed_ = false;
    std::set<std::string> families_;
    std::map<std::string, double> samples_;
};

/* A status with every field. */
control::Status full_status()
{
    control::Status status;
    status.job = "melt";
    status.host = "n1";
    status.phase = "running";
    status.directory = "/fast";
    status.slow_directory = "/slow";
    status.started = 1764000000.25;
    status.rank_count = 8;
    status.failures = 2;
    status.committed = 3;
    status.failed = 1;
    status.refusals = {{"living-child", 3}, {"no-space", 1}};
    status.totals = {3'000'000'000'000, 9'000'000'000'000, 30.5, 0.75};
    status.last.number = 7;
    status.last.bytes = 1'000'000'000'001;
    status.last.memory_bytes = 3'000'000'000'000;
    status.last.timings.total = 10.25;
    status.last.timings.stop = 0.25;
    status.last_at = 1764000100;
    status.interval = 300;
    status.next_in = 12.5;
    status.automatic = true;
    status.cost = 0.5;
    status.mtbf = 7200;
    status.flushed = 6;
    status.flushing = 7;
    status.nodes = {{"n1", {{0, 2}, {7, 7}}, true}, {"n2", {{3, 6}}, false}};
    return status;
}

TEST(Metrics, TellAllThatIsKnown)
{
    const Exposition said(metrics_text({full_status()}, 1764000200.5));
    const std::string of_job = R"({job="melt",host="n1"})";
    const std::map<std::string, double> expected = {
        {"ckpt_report_time_seconds", 1764000200.5},
        {"ckpt_job_start_time_seconds", 1764000000.25},
        {"ckpt_job_ranks", 8},
        {"ckpt_job_failures_total", 2},
        {"ckpt_checkpoints_committed_total", 3},
        {"ckpt_checkpoints_failed_total", 1},
        {"ckpt_written_bytes_total", 3e12},
        {"ckpt_saved_memory_bytes_total", 9e12},
        {"ckpt_checkpoint_seconds_total", 30.5},
        {"ckpt_stopped_seconds_total", 0.75},
        {"ckpt_checkpoint_under_way", 0},
        {"ckpt_last_checkpoint_number", 7},
        {"ckpt_last_checkpoint_time_seconds", 1764000100},
        {"ckpt_last_checkpoint_bytes", 1'000'000'000'001},
        {"ckpt_last_checkpoint_memory_bytes", 3e12},
        {"ckpt_last_checkpoint_duration_seconds", 10.25},
        {"ckpt_last_checkpoint_stopped_seconds", 0.25},
        {"ckpt_interval_seconds", 300},
        {"ckpt_next_checkpoint_seconds", 12.5},
        {"ckpt_checkpoint_cost_seconds", 0.5},
        {"ckpt_mtbf_seconds", 7200},
        {"ckpt_slow_checkpoint_number", 6},
        {"ckpt_slow_copy_under_way", 1},
        {"ckpt_slow_copy_failed", 0},
    };
    for (const auto &[name, value] : expected) {
        EXPECT_EQ(said.value(name + of_job), value) << name;
    }
    EXPECT_EQ(said.value(R"(ckpt_refusals_total{job="melt",host="n1",refusal="living-child"})"), 3);
    EXPECT_EQ(said.value(R"(ckpt_refusals_total{job="melt",host="n1",refusal="no-space"})"), 1);
    EXPECT_EQ(said.value(R"(ckpt_node_ranks{job="melt",host="n1",node="n1"})"), 4);
    EXPECT_EQ(said.value(R"(ckpt_node_connected{job="melt",host="n1",node="n2"})"), 0);
    EXPECT_EQ(said.value(R"(ckpt_job_state{job="melt",host="n1",state="running"})"), 1);
    EXPECT_EQ(said.value(R"(ckpt_job_state{job="melt",host="n1",state="ended"})"), 0);
}

TEST(Metrics, TellOfIndependentCheckpointsOfEachRank)
{
    control::Status status = full_status();
    status.independent = {{0, 3, 40, 38, 1000, 9000, 8000, 7000, 90, 60, 50},
                          {1, 4, 41, 39, 0, 0, 0}};
    status.salvaged = {7, 1, 1764000050, {}};
    status.capped = {2, 6, 1764000040, {1}};
    const Exposition said(metrics_text({status}, 1));
    const std::string of_rank = R"({job="melt",host="n1",rank="0"})";
    EXPECT_EQ(said.value("ckpt_independent_checkpoints_total" + of_rank), 3);
    EXPECT_EQ(said.value("ckpt_independent_interval" + of_rank), 40);
    EXPECT_EQ(said.value("ckpt_independent_kept_interval" + of_rank), 38);
    EXPECT_EQ(said.value("ckpt_independent_log_bytes" + of_rank), 1000);
    EXPECT_EQ(said.value("ckpt_independent_logged_bytes_total" + of_rank), 9000);
    EXPECT_EQ(said.value("ckpt_independent_trimmed_bytes_total" + of_rank), 8000);
    EXPECT_EQ(said.value("ckpt_independent_payload_bytes_total" + of_rank), 7000);
    EXPECT_EQ(said.value("ckpt_independent_control_bytes_total" + of_rank), 90);
    EXPECT_EQ(said.value("ckpt_independent_logging_nanoseconds_total" + of_rank), 60);
    EXPECT_EQ(said.value("ckpt_independent_keeping_nanoseconds_total" + of_rank), 50);
    EXPECT_EQ(said.value(R"(ckpt_independent_interval{job="melt",host="n1",rank="1"})"), 41);
    EXPECT_EQ(said.value(R"(ckpt_log_cap_checkpoints_total{job="melt",host="n1"})"), 2);
    EXPECT_EQ(said.value(R"(ckpt_last_salvage_time_seconds{job="melt",host="n1"})"),
              1764000050);
}

TEST(Metrics, LeaveOutWhatIsNotKnown)
{
    control::Status status;
    status.job = "new";
    status.host = "n1";
    status.phase = "starting";
    const Exposition said(metrics_text({status}, 1));
    const std::string of_job = R"({job="new",host="n1"})";
    EXPECT_EQ(said.value("ckpt_checkpoints_committed_total" + of_job), 0);
    for (const char *name : {"ckpt_last_checkpoint_bytes", "ckpt_interval_seconds",
                             "ckpt_next_checkpoint_seconds", "ckpt_mtbf_seconds",
                             "ckpt_slow_checkpoint_number", "ckpt_job_start_time_seconds",
                             "ckpt_last_salvage_time_seconds"}) {
        EXPECT_FALSE(said.has(name + of_job)) << name;
    }
    EXPECT_EQ(metrics_text({}, 1), "");
}

TEST(Metrics, TellTheStateWhileACheckpointIsTaken)
{
    control::Status status = full_status();
    status.phase = status.progress.phase = "drain";
    const Exposition said(metrics_text({status}, 1));
    EXPECT_EQ(said.value(R"(ckpt_job_state{job="melt",host="n1",state="saving"})"), 1);
    EXPECT_EQ(said.value(R"(ckpt_checkpoint_under_way{job="melt",host="n1"})"), 1);
}

TEST(Metrics, TellJobsApartAndEscapeTheirLabels)
{
    control::Status odd = full_status();
    odd.job = "odd";
    odd.application = "./a \"b\"\\c\nd";
    const Exposition said(metrics_text({full_status(), odd}, 1));
    EXPECT_EQ(said.value(R"(ckpt_job_ranks{job="melt",host="n1"})"), 8);
    EXPECT_EQ(said.value(R"(ckpt_job_ranks{job="odd",host="n1"})"), 8);
    EXPECT_TRUE(said.has(R"(ckpt_job_info{job="odd",host="n1",application="./a \"b\"\\c\nd",)"
                         R"(directory="/fast",protocol="",snapshot="",codec=""})"));
    EXPECT_EQ(said.size(), 2 * Exposition(metrics_text({odd}, 1)).size());
}

class StatusMetrics : public CliTest
{
  protected:
    std::unique_ptr<FakeAgent> agent(const std::string &job) const
    {
        control::Status status = full_status();
        status.job = job;
        status.launch_namespace = job;
        return std::make_unique<FakeAgent>(
            scratch_ / "run/" + job + ".ctl",
            [=](const control::Request &) { return FakeAgent::status_line(status); });
    }
};

TEST_F(StatusMetrics, ArePrintedForAllJobsOrOne)
{
    auto one = agent("one"), two = agent("two");
    const std::string of_one = R"(ckpt_job_ranks{job="one",host="n1"})";
    Outcome outcome = ckpt_says({"status", "--prometheus"});
    EXPECT_EQ(outcome.exit_code, exit_done) << outcome.err;
    EXPECT_TRUE(Exposition(outcome.out).has(of_one)) << "wherever its checkpoints are";
    EXPECT_TRUE(Exposition(outcome.out).has(R"(ckpt_job_ranks{job="two",host="n1"})"));
    EXPECT_FALSE(Exposition(ckpt_says({"status", "--prometheus", "two"}).out).has(of_one));
    EXPECT_EQ(ckpt_says({"status", "--prometheus", "none"}).exit_code, exit_not_found);
    EXPECT_EQ(ckpt_says({"status", "--prometheus", "--json"}).exit_code, exit_usage);
}

TEST_F(StatusMetrics, AreEmptyWithoutJobs)
{
    Outcome outcome = ckpt_says({"status", "--prometheus"});
    EXPECT_EQ(outcome.exit_code, exit_done);
    EXPECT_EQ(outcome.out, "");
}

} // namespace
