/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_cli_jobs.cpp - which running job a user means, and the answers of its agent.
 */
#include "config.h"

#include "cli/jobs/agent_client.hpp"
#include "cli/launchers/diagnosis.hpp"
#include "cli/jobs/jobs.hpp"
#include "cli/jobs/run_requests.hpp"
#include "cli/jobs/own_status.hpp"
#include "cli/jobs/wait_notice.hpp"
#include "common/host.hpp"
#include "tests/cli/cli_fixture.hpp"
#include "tests/agent/fake_agent.hpp"

#include <atomic>
#include <csignal>
#include <future>

#include <sys/wait.h>
#include <unistd.h>

using namespace ckpt;
using namespace ckpt::cli;
using namespace ckpt::test;
namespace fs = std::filesystem;

namespace
{

class Jobs : public CliTest
{
  protected:
    control::Status status(const std::string &job, int launcher_pid) const
    {
        control::Status status;
        status.job = job;
        status.launch_namespace = job + "-launch";
        status.directory = store_.directory();
        status.phase = "running";
        status.launcher_pid = launcher_pid;
        status.rank_count = 2;
        status.ranks = {{0, launcher_pid + 1, "running"}};
        return status;
    }

    fs::path socket(const std::string &name) const
    {
        return scratch_ / "run/" + name + ".ctl";
    }

    /* An agent that answers with its status and takes any checkpoint. */
    std::unique_ptr<FakeAgent> agent(const control::Status &status,
                                     const std::string &checkpoint = "") const
    {
        return std::make_unique<FakeAgent>(
            socket(status.job + status.host),
            [=](const control::Request &request) {
                return request.command == "status"
                           ? FakeAgent::status_line(status)
                           : checkpoint;
            });
    }

    static std::string result_line(const std::string &job)
    {
        control::Reply reply;
        reply.event = "progress";
        reply.progress.phase = "write";
        std::string lines = control::encode_line(reply);
        reply.event = "result";
        reply.result.job = job;
        reply.result.name = job + "/1";
        reply.result.number = 1;
        reply.result.timings.stop = 0.25;
        return lines + control::encode_line(reply);
    }
};

TEST_F(Jobs, CheckpointPrintsTheNameOfTheOnlyJob)
{
    auto one = agent(status("one", 100), result_line("one"));
    Outcome outcome = ckpt_says({"checkpoint"});
    EXPECT_EQ(outcome.exit_code, exit_done) << outcome.err;
    EXPECT_EQ(outcome.out, "one/1\n");
}

/* The command does not look into the directory, which may be on a file server that hangs. */
TEST_F(Jobs, TheOnlyOneIsFoundWithoutItsDirectory)
{
    auto one = agent(status("one", 100), result_line("one"));
    std::filesystem::create_directory(store_.directory() / "other");
    std::ofstream(store_.directory() / "other" / "job.json") << "{"; /* reading it fails */
    const Outcome saved = ckpt_says({"checkpoint"});
    EXPECT_EQ(saved.exit_code, exit_done) << saved.err;
    EXPECT_EQ(saved.out, "one/1\n");
    /* The running jobs are shown before the search for the others. */
    const Outcome shown = ckpt_says({"status"});
    EXPECT_EQ(shown.exit_code, exit_failed);
    EXPECT_TRUE(shown.out.starts_with("one: ")) << shown.out;
    EXPECT_NE(shown.err.find("job.json"), std::string::npos) << shown.err;
}

/* Returns the first text on standard error, as soon as it comes. */
class ErrorPipe
{
  public:
    ErrorPipe()
        : before_(::dup(STDERR_FILENO))
    {
        int ends[2];
        EXPECT_EQ(::pipe(ends), 0);
        reading_.reset(ends[0]);
        ::dup2(ends[1], STDERR_FILENO);
        ::close(ends[1]);
    }
    ~ErrorPipe() { restore(); }

    void restore() { ::dup2(before_.get(), STDERR_FILENO); }

    std::string read() const
    {
        char text[1000];
        const ssize_t size = ::read(reading_.get(), text, sizeof text);
        return {text, size > 0 ? static_cast<std::size_t>(size) : 0};
    }

  private:
    Fd before_, reading_;
};

TEST(WaitNotice, SaysOnceWhatIsWaitedFor)
{
    using namespace std::chrono_literals;
    ErrorPipe errors;
    {
        const cli::WaitNotice in_time("/in-time", 1h);
    }
    {
        const cli::WaitNotice late("/late", 0ms);
        EXPECT_EQ(errors.read(), "ckpt: waiting for the file system of /late\n");
    }
    {
        const cli::WaitNotice again("/late", 0ms);
    }
    errors.restore();
    EXPECT_EQ(errors.read(), "");
}

TEST_F(Jobs, CheckpointPrintsTimingsAsJson)
{
    auto one = agent(status("one", 100), result_line("one"));
    Outcome outcome = ckpt_says({"checkpoint", "--json", "one"});
    auto json = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(json["name"], "one/1");
    EXPECT_EQ(json["timings"]["stop"], 0.25);
}

TEST_F(Jobs, AreFoundByNameByMpirunAndByRank)
{
    auto one = agent(status("one", 100), result_line("one"));
    auto two = agent(status("two", 200), result_line("two"));
    EXPECT_EQ(ckpt_says({"checkpoint", "two"}).out, "two/1\n");
    EXPECT_EQ(ckpt_says({"checkpoint", "100"}).out, "one/1\n");
    EXPECT_EQ(ckpt_says({"checkpoint", "201"}).out, "two/1\n");
}

TEST_F(Jobs, MustBeNamedIfThereAreSeveral)
{
    auto one = agent(status("one", 100));
    auto two = agent(status("two", 200));
    Outcome outcome = ckpt_says({"checkpoint"});
    EXPECT_EQ(outcome.exit_code, exit_usage);
    EXPECT_NE(outcome.err.find("one (mpirun 100), two (mpirun 200)"),
              std::string::npos)
        << outcome.err;
}

TEST_F(Jobs, OfOtherDirectoriesAreNotTheDefault)
{
    control::Status elsewhere = status("one", 100);
    elsewhere.directory = "/";
    auto one = agent(elsewhere, result_line("one"));
    Outcome outcome = ckpt_says({"checkpoint"});
    EXPECT_EQ(outcome.exit_code, exit_not_found);
    EXPECT_NE(outcome.err.find("running elsewhere: one"), std::string::npos);
    EXPECT_EQ(ckpt_says({"checkpoint", "one"}).exit_code, exit_done);
}

TEST_F(Jobs, SayWhatTheyHaveRejected)
{
    control::Status spared = status("one", 100), beset = status("two", 200);
    beset.rejected = {{"forged", 2}, {"other_user", 1}};
    auto one = agent(spared);
    auto two = agent(beset);
    EXPECT_EQ(ckpt_says({"status", "one"}).out.find("rejected"), std::string::npos);
    EXPECT_NE(ckpt_says({"status", "two"}).out.find("  rejected: 2 forged, 1 other_user\n"),
              std::string::npos);
    auto json = nlohmann::json::parse(ckpt_says({"status", "--json", "one"}).out);
    EXPECT_FALSE(json[0].contains("rejected"));
    json = nlohmann::json::parse(ckpt_says({"status", "--json", "two"}).out);
    EXPECT_EQ(json[0]["rejected"], (nlohmann::json{{"forged", 2}, {"other_user", 1}}));
}

/* The state comes from its `ckpt run`. */
TEST_F(Jobs, ThatAreSwappedOutSaySo)
{
    const TierDirectories directories = {store_.directory(), {}};
    commit("one", 3);
    store_.write_job_state({"one", "failed", "h", 1, 1, "", 0});
    const auto answer = [&](const std::string &job) {
        return [=](const control::Request &request) {
            return request.command == "status"
                       ? FakeAgent::status_line(swapped_out_status(directories, job, 86400))
                       : FakeAgent::error_line(
                             {CKPT_REFUSAL_SWAPPED_OUT, "the job is swapped out"});
        };
    };
    FakeAgent one(run_socket(directories, "one"), answer("one"));
    FakeAgent two(run_socket(directories, "two"), answer("two"));
    Outcome outcome = ckpt_says({"status", "one"});
    EXPECT_EQ(outcome.exit_code, exit_done) << outcome.err;
    EXPECT_EQ(outcome.out,
              fmt::format("one: swapped out since 1970-01-02T00:00:00Z, 2 ranks of ./app\n"
                          "  ckpt run {} on {}, directory {}\n"
                          "  newest checkpoint one/3 (5 B), of 1970-01-01T00:00:03Z\n"
                          "  ckpt resume one brings it back\n",
                          getpid(), host_name(), store_.directory().string()));
    const auto json = nlohmann::json::parse(ckpt_says({"status", "--json"}).out);
    ASSERT_EQ(json.size(), 2u);
    EXPECT_EQ(json[0]["running"], false);
    EXPECT_EQ(json[0]["phase"], "swapped out");
    EXPECT_NE(ckpt_says({"status", "--prometheus", "one"})
                  .out.find(R"(state="swapped_out"} 1)"),
              std::string::npos);
    outcome = ckpt_says({"checkpoint", "one"});
    EXPECT_EQ(outcome.exit_code, exit_refused);
    EXPECT_EQ(outcome.err, "ckpt: job one: the job is swapped out [swapped-out]\n");
    EXPECT_EQ(ckpt_says({"checkpoint", "--pmix", "one"}).err,
              "ckpt: job one is swapped out [swapped-out]\n");
}

/* The state comes from its `ckpt run`, until an agent, perhaps on another node, has all ranks. */
TEST_F(Jobs, ThatAreStartingAreWaitedFor)
{
    const TierDirectories directories = {store_.directory(), {}};
    int asked = 0;
    control::Status running = status("one", 100);
    running.coordinator = true;
    FakeAgent one(run_socket(directories, "one"), [&](const control::Request &request) {
        if (request.command != "status") {
            return result_line("one");
        }
        asked++;
        return FakeAgent::status_line(asked < 3 ? starting_status(directories, "one") : running);
    });
    EXPECT_EQ(ckpt_says({"checkpoint", "one"}).out, "one/1\n");
    EXPECT_EQ(asked, 3);
}

TEST_F(Jobs, ThatAreStartingAreOneWithTheirAgent)
{
    const TierDirectories directories = {store_.directory(), {}};
    control::Status member = status("", 100); /* it has no name yet */
    member.host = "a";
    member.phase = control::starting;
    auto agent_of_one = agent(member);
    FakeAgent one(run_socket(directories, "one"), [&](const control::Request &) {
        return FakeAgent::status_line(starting_status(directories, "one"));
    });
    EXPECT_EQ(nlohmann::json::parse(ckpt_says({"status", "--json"}).out).size(), 1u);
}

TEST_F(Jobs, AreReachedThroughTheirCoordinator)
{
    control::Status member = status("one", 0);
    member.host = "a";
    control::Status coordinator = status("one", 100);
    coordinator.host = "b";
    coordinator.coordinator = true;
    auto first = agent(member, FakeAgent::error_line({CKPT_REFUSAL_NO_COORDINATOR, "not me"}));
    auto second = agent(coordinator, result_line("one"));
    EXPECT_EQ(ckpt_says({"checkpoint"}).out, "one/1\n");
}

TEST_F(Jobs, AreFoundThroughTheirFileOutsideTheRunDirectory)
{
    control::Status there = status("one", 100);
    fs::path path = scratch_ / "elsewhere.ctl";
    FakeAgent one(path, [&](const control::Request &request) {
        return request.command == "status" ? FakeAgent::status_line(there)
                                           : result_line("one");
    });
    char host[256] = "";
    gethostname(host, sizeof(host) - 1);
    store_.write_job_state(
        {"one", "running", host, 100, 1, scratch_ / "elsewhere.sock", 0});
    EXPECT_EQ(ckpt_says({"checkpoint"}).out, "one/1\n");
}

TEST_F(Jobs, AreWaitedForWhileTheyStart)
{
    std::atomic<int> asked = 0;
    FakeAgent one(socket("one"), [&](const control::Request &request) {
        control::Status now = status("one", 100);
        now.phase = ++asked < 3 ? "starting" : "running";
        return request.command == "status" ? FakeAgent::status_line(now)
                                           : result_line("one");
    });
    EXPECT_EQ(ckpt_says({"checkpoint", "one"}).out, "one/1\n");
    EXPECT_GE(asked.load(), 3);
}

TEST_F(Jobs, AreWaitedForWhileTheirAgentIsReplaced)
{
    char host[256] = "";
    gethostname(host, sizeof(host) - 1);
    store_.write_job_state({"one", "running", host, getpid(), 1, "", 0});
    EXPECT_THROW(find_started_job({store_.directory(), {}}, "one", 0), CommandError);
    auto found = std::async(std::launch::async, [&] {
        return find_started_job({store_.directory(), {}}, "one", 60000);
    });
    auto late = agent(status("one", getpid()));
    EXPECT_EQ(found.get().status.job, "one");
}

TEST_F(Jobs, ARefusalIsPassedOn)
{
    auto one = agent(status("one", 100),
                     FakeAgent::error_line(
                         {CKPT_REFUSAL_UNSAVABLE_OBJECT, "rank 1: window made in main"}));
    Outcome outcome = ckpt_says({"checkpoint"});
    EXPECT_EQ(outcome.exit_code, exit_refused);
    EXPECT_EQ(outcome.err, "ckpt: job one: rank 1: window made in main [unsavable-object]\n");
    EXPECT_EQ(outcome.out, "");
    outcome = ckpt_says({"checkpoint", "--json"});
    EXPECT_EQ(outcome.exit_code, exit_refused);
    EXPECT_EQ(nlohmann::json::parse(outcome.out),
              (nlohmann::json{{"error", "job one: rank 1: window made in main"},
                              {"refusal", "unsavable-object"}}));
}

TEST_F(Jobs, SayHowOftenWhyNoCheckpointWasTaken)
{
    control::Status beset = status("one", 100);
    beset.last_error = "rank 1: process 7 is still there";
    beset.last_refusal = "living-child";
    beset.refusals = {{"living-child", 2}, {"no-space", 1}};
    auto one = agent(beset);
    const std::string text = ckpt_says({"status", "one"}).out;
    EXPECT_NE(text.find("  last failure: rank 1: process 7 is still there [living-child]\n"
                        "  not taken: 2 living-child, 1 no-space\n"),
              std::string::npos)
        << text;
    const auto json = nlohmann::json::parse(ckpt_says({"status", "--json", "one"}).out);
    EXPECT_EQ(json[0]["last_refusal"], "living-child");
    EXPECT_EQ(json[0]["refusals"], (nlohmann::json{{"living-child", 2}, {"no-space", 1}}));
}

TEST_F(Jobs, ADeathOfTheAgentIsAFailure)
{
    auto one = agent(status("one", 100), "");
    Outcome outcome = ckpt_says({"checkpoint"});
    EXPECT_EQ(outcome.exit_code, exit_failed);
    EXPECT_NE(outcome.err.find("died"), std::string::npos) << outcome.err;
}

TEST_F(Jobs, AnAgentThatGoesWithItsJobHasNotDied)
{
    store_.write_job_state({"one", "ended", "h", 1, 1, "", 0});
    auto one = agent(status("one", 100), "");
    Outcome outcome = ckpt_says({"checkpoint"});
    EXPECT_EQ(outcome.exit_code, exit_not_found);
    EXPECT_NE(outcome.err.find("has just ended"), std::string::npos) << outcome.err;
}

TEST_F(Jobs, NonsenseFromAnAgentIsAFailure)
{
    auto one = agent(status("one", 100), "hello\n");
    EXPECT_EQ(ckpt_says({"checkpoint"}).exit_code, exit_failed);
}

TEST_F(Jobs, ASilentAgentIsNotWaitedForEver)
{
    /* A socket that listens, and never accepts. */
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, socket("mute").c_str());
    Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr *>(&address),
                     sizeof(address)),
              0);
    ASSERT_EQ(::listen(listener.get(), 1), 0);
    control::Request request;
    request.command = "status";
    EXPECT_NE(error_of([&] { ask_agent(socket("mute"), request, 200); })
                  .find("does not answer"),
              std::string::npos);
}

TEST_F(Jobs, ADeadAgentsSocketIsNobody)
{
    std::ofstream(socket("stale")) << "";
    EXPECT_EQ(ask_agent(socket("stale"), {}, 200), std::nullopt);
    EXPECT_EQ(ask_agent(socket("none"), {}, 200), std::nullopt);
}

TEST_F(Jobs, UnknownOnesAreNotFound)
{
    EXPECT_EQ(ckpt_says({"checkpoint"}).exit_code, exit_not_found);
    Outcome outcome = ckpt_says({"checkpoint", "nobody"});
    EXPECT_EQ(outcome.exit_code, exit_not_found);
    EXPECT_NE(outcome.err.find("no job nobody"), std::string::npos);

    store_.write_job_state({"old", "ended", "h", 1, 1, "", 0});
    EXPECT_NE(ckpt_says({"checkpoint", "old"}).err.find("is not running"),
              std::string::npos);
    store_.write_job_state({"far", "running", "moon", 1, 1, "", 0});
    outcome = ckpt_says({"checkpoint", "far"});
    EXPECT_EQ(outcome.exit_code, exit_refused);
    EXPECT_NE(outcome.err.find("runs on moon: use ckpt there [job-elsewhere]"),
              std::string::npos);
}

TEST_F(Jobs, StatusShowsRunningAndEndedOnes)
{
    auto one = agent(status("one", 100));
    store_.write_job_state({"old", "ended", "h", 1, 1, "", 0});
    commit("old", 3);
    Outcome outcome = ckpt_says({"status"});
    EXPECT_EQ(outcome.exit_code, exit_done) << outcome.err;
    EXPECT_NE(outcome.out.find("one: running, 2 ranks"), std::string::npos);
    EXPECT_NE(outcome.out.find("old: ended, 1 checkpoints, newest old/3"),
              std::string::npos)
        << outcome.out;

    auto json = nlohmann::json::parse(ckpt_says({"status", "--json"}).out);
    ASSERT_EQ(json.size(), 2u);
    EXPECT_EQ(json[0]["job"], "one");
    EXPECT_EQ(json[1]["running"], false);
    EXPECT_EQ(ckpt_says({"status", "old"}).exit_code, exit_done);
    EXPECT_EQ(ckpt_says({"status", "none"}).exit_code, exit_not_found);
}

TEST_F(Jobs, AProcessThatIsNotThereIsNamed)
{
    pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    waitpid(child, nullptr, 0);
    Outcome outcome = ckpt_says({"checkpoint", std::to_string(child)});
    EXPECT_EQ(outcome.exit_code, exit_not_found);
    EXPECT_NE(outcome.err.find("there is no process"), std::string::npos);
}

TEST_F(Jobs, AProcessWithoutPluginIsExplained)
{
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    Diagnosis why = why_no_agent(child);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_EQ(why.status, exit_refused);
    EXPECT_EQ(why.identity, CKPT_REFUSAL_NOT_UNDER_CKPT) << why.text;
}

/* The build's directory of programs for these tests. */
#define BUILT CKPT_TEST_DIRECTORY

/* Runs `program` (asleep in its main) below a child of this process, and asks about the child, as a
 * user asks about mpirun. */
Diagnosis diagnosis_above(const char *program, const char *preload = nullptr)
{
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    pid_t parent = fork();
    if (parent == 0) {
        setpgid(0, 0);
        if (fork() == 0) {
            dup2(ready[1], 1);
            if (preload != nullptr) {
                setenv("LD_PRELOAD", preload, 1);
            }
            execl(program, program, nullptr);
            _exit(127);
        }
        close(ready[1]);
        for (;;) {
            pause();
        }
    }
    close(ready[1]);
    char c = 0;
    EXPECT_EQ(read(ready[0], &c, 1), 1) << program;
    close(ready[0]);
    Diagnosis why = why_no_agent(parent);
    kill(-parent, SIGKILL);
    waitpid(parent, nullptr, 0);
    return why;
}

TEST(Diagnosis, NamesAStaticallyLinkedProgram)
{
    Diagnosis why = diagnosis_above(BUILT "/sleeper_static");
    EXPECT_EQ(why.status, exit_refused);
    EXPECT_EQ(why.identity, CKPT_REFUSAL_UNSUITABLE_PROGRAM) << why.text;
}

TEST(Diagnosis, NamesTheOtherMpi)
{
    Diagnosis why = diagnosis_above(BUILT "/sleeper",
                                    BUILT "/fake/libmpi.so.12");
    EXPECT_NE(why.text.find("MPICH"), std::string::npos) << why.text;
}

TEST(Diagnosis, TellsAProgramStartedWithoutTheTuneFile)
{
    Diagnosis why = diagnosis_above(BUILT "/sleeper",
                                    BUILT "/fake/libmpi.so.40");
    EXPECT_NE(why.text.find("without checkpointing"), std::string::npos)
        << why.text;
}

TEST(Diagnosis, TellsAProgramBeforeItsInit)
{
    Diagnosis why = diagnosis_above(BUILT "/sleeper",
                                    BUILT "/fake/libckpt-mpi.so");
    EXPECT_EQ(why.identity, CKPT_REFUSAL_JOB_STARTING) << why.text;
}

TEST(Diagnosis, KnowsAStaticProgram)
{
    EXPECT_TRUE(is_statically_linked(BUILT "/sleeper_static"));
    EXPECT_FALSE(is_statically_linked(BUILT "/sleeper"));
    EXPECT_FALSE(is_statically_linked("/etc/passwd"));
    EXPECT_FALSE(is_statically_linked("/no/such/file"));
}

} // namespace
