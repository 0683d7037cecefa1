/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_job_owner.cpp - one owner of a job at a time; a dead one does not count.
 */
#include "config.h"
#include "image/store/job_owner.hpp"

#include "common/files/files.hpp"
#include "common/host.hpp"
#include "common/processes.hpp"
#include "image/io/json_fields.hpp"
#include "tests/common/child_process.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <functional>
#include <optional>
#include <vector>

using namespace ckpt;
using namespace ckpt::test;
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Take = JobOwnership::Take;

namespace
{

class JobOwners : public testing::Test
{
  protected:
    JobOwnership take(const std::string &token, Take how = Take::ask) const
    {
        return {scratch_.path(), {.token = token, .keeps_lock = true}, how};
    }

    /* Returns 0, or the code of the error. */
    int code_of_taking(const std::string &token, Take how = Take::ask) const
    {
        try {
            (void)take(token, how);
        } catch (const Error &error) {
            return error.code();
        }
        return 0;
    }

    Json record() const { return Json::parse(read_text_file(file(), "record")); }

    /* Rewrites the file as a process of another host, boot or namespace would have left it. */
    void change(const std::function<void(Json &)> &how) const
    {
        Json json = record();
        how(json);
        write_text_file_atomically(file(), json.dump(), "record");
    }

    fs::path file() const { return scratch_ / job_owner_name; }

    ScratchDirectory scratch_;
};

/* A child that takes the job, reports that and stays until it is killed. */
class OtherOwner
{
  public:
    OtherOwner(const fs::path &directory, const JobOwnership::As &as)
    {
        fs::remove(directory / "taken");
        pid_ = ::fork();
        if (pid_ == 0) {
            const JobOwnership ownership(directory, as, Take::ask);
            std::ofstream(directory / "taken").flush();
            for (;;) {
                ::pause();
            }
        }
        while (!fs::exists(directory / "taken")) {
            ::usleep(1000);
        }
    }
    ~OtherOwner() { kill(); }
    void kill()
    {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            ::waitpid(pid_, nullptr, 0);
            pid_ = 0;
        }
    }
    pid_t pid() const { return pid_; }

  private:
    pid_t pid_ = 0;
};

TEST_F(JobOwners, AJobOfNobodyCanBeTaken)
{
    EXPECT_FALSE(owner_of(scratch_.path()));
    EXPECT_FALSE(has_owner_record(scratch_.path()));
    JobOwnership ours = take("a");
    EXPECT_TRUE(ours.is_ours());
    ASSERT_TRUE(owner_of(scratch_.path()));
    EXPECT_EQ(owner_of(scratch_.path())->text(),
              fmt::format("process {} on {}", ::getpid(), host_name()));
    ours.release();
    EXPECT_FALSE(has_owner_record(scratch_.path()));
    EXPECT_EQ(code_of_taking("b"), 0);
}

TEST_F(JobOwners, OneThatLivesIsTheOnlyOne)
{
    OtherOwner other(scratch_.path(), {.token = "a", .keeps_lock = true});
    EXPECT_EQ(code_of_taking("b"), EBUSY);
    EXPECT_EQ(owner_of(scratch_.path())->text(),
              fmt::format("process {} on {}", other.pid(), host_name()));
    other.kill();
    EXPECT_FALSE(owner_of(scratch_.path()));
    EXPECT_EQ(code_of_taking("b"), 0);
}

/* The agent is killed, and mpirun, or a program without it, goes on. */
TEST_F(JobOwners, OneWhoseLauncherLivesIsTheOnlyOne)
{
    ScratchDirectory elsewhere;
    OtherOwner launcher(elsewhere.path(), {.token = "x"});
    OtherOwner agent(scratch_.path(), {.token = "a",
                                       .keeps_lock = true,
                                       .launcher = process_identity(launcher.pid())});
    agent.kill();
    ASSERT_TRUE(owner_of(scratch_.path()));
    EXPECT_EQ(owner_of(scratch_.path())->text(),
              fmt::format("process {} on {}", launcher.pid(), host_name()));
    EXPECT_EQ(code_of_taking("b"), EBUSY);
    {
        const OtherOwner next(scratch_.path(), {.token = "c",
                                                .keeps_lock = true,
                                                .launcher = process_identity(launcher.pid())});
        EXPECT_EQ(owner_of(scratch_.path())->text(),
                  fmt::format("process {} on {}", next.pid(), host_name()));
    }
    launcher.kill();
    EXPECT_EQ(code_of_taking("b"), 0);
}

/* A command executes mpirun, and its lock goes with its descriptors. */
TEST_F(JobOwners, OneWithoutALockIsSeenByItsProcess)
{
    OtherOwner other(scratch_.path(), {.token = "a"});
    EXPECT_EQ(code_of_taking("b"), EBUSY);
    other.kill();
    EXPECT_EQ(code_of_taking("b"), 0);
}

TEST_F(JobOwners, TheAgentTakesOverFromItsCommand)
{
    OtherOwner command(scratch_.path(), {.token = "a", .keeps_lock = true});
    JobOwnership agent = take("a");
    EXPECT_TRUE(agent.is_ours());
    EXPECT_EQ(code_of_taking("b"), EBUSY);
}

TEST_F(JobOwners, WhoseJobIsTakenLearnsOfIt)
{
    JobOwnership late = take("a");
    JobOwnership next = take("b", Take::insist);
    EXPECT_TRUE(next.is_ours());
    EXPECT_FALSE(late.is_ours());
    EXPECT_NE(error_of([&] { late.require_ours(); }).find("another launch has taken over"),
              std::string::npos);
    late.release(); /* changes nothing */
    EXPECT_TRUE(next.is_ours());
    EXPECT_TRUE(has_owner_record(scratch_.path()));
}

/* `ckpt run` starts the job again: it owns the job between two launches. */
TEST_F(JobOwners, ARunnerKeepsTheJobBetweenItsAgents)
{
    OtherOwner runner(scratch_.path(), {.token = "a", .keeps_lock = true, .is_runner = true});
    {
        OtherOwner agent(scratch_.path(), {.token = "a", .keeps_lock = true});
    }
    EXPECT_EQ(code_of_taking("b"), EBUSY);
    {
        OtherOwner next_agent(scratch_.path(), {.token = "a", .keeps_lock = true});
    }
    EXPECT_EQ(code_of_taking("b"), EBUSY);
    runner.kill();
    EXPECT_EQ(code_of_taking("b"), 0);
}

TEST_F(JobOwners, ARunnerReleasesWhatItsAgentHasTaken)
{
    JobOwnership runner(scratch_.path(),
                        {.token = "a", .keeps_lock = true, .is_runner = true}, Take::ask);
    {
        JobOwnership agent = take("a");
        runner.release();
        EXPECT_TRUE(agent.is_ours()); /* may still write the job's end */
    }
    EXPECT_FALSE(has_owner_record(scratch_.path()));
}

/* The ownership lasts until the end of the launch that goes on from the checkpoint. */
TEST_F(JobOwners, TheAgentKeepsWhatItsCommandRestarts)
{
    const JobOwnership command(scratch_.path(), {.token = "a", .uses = 7}, Take::ask);
    const JobOwnership agent = take("a");
    EXPECT_EQ(owner_of(scratch_.path())->uses, 7u);
    const JobOwnership other = take("b", Take::insist);
    EXPECT_EQ(owner_of(scratch_.path())->uses, 0u);
}

TEST_F(JobOwners, AProcessOfTheSameNumberIsAnother)
{
    (void)take("a");
    change([](Json &json) {
        json["place"]["process"] = fmt::format("{:010}-{:020}", 1, 4711); /* init is older */
    });
    EXPECT_FALSE(owner_of(scratch_.path()));
    EXPECT_EQ(code_of_taking("b"), 0);
}

TEST_F(JobOwners, AProcessOfABootBeforeIsDead)
{
    (void)take("a");
    change([](Json &json) {
        json["place"]["boot"] = "an earlier one";
        json["keeps_lock"] = false;
    });
    EXPECT_FALSE(owner_of(scratch_.path()));
    EXPECT_EQ(code_of_taking("b"), 0);
}

/* A container's process is invisible from here, but its lock would be visible. */
TEST_F(JobOwners, AProcessOfAnotherNamespaceIsDeadWithoutItsLock)
{
    (void)take("a");
    change([](Json &json) { json["place"]["pid_namespace"] = "pid:[1]"; });
    EXPECT_FALSE(owner_of(scratch_.path()));
    change([](Json &json) { json["keeps_lock"] = false; });
    EXPECT_TRUE(owner_of(scratch_.path()));
    EXPECT_EQ(code_of_taking("b"), EBUSY);
    EXPECT_EQ(code_of_taking("b", Take::insist), 0);
}

TEST_F(JobOwners, OfAnotherHostThatHadNoLockNothingIsKnown)
{
    (void)take("a");
    change([](Json &json) {
        json["place"]["host"] = "another";
        json["place"]["boot"] = "its own";
        json["keeps_lock"] = false;
    });
    EXPECT_TRUE(owner_of(scratch_.path()));
    EXPECT_EQ(code_of_taking("b"), EBUSY);
}

TEST_F(JobOwners, ARecordThatCannotBeReadIsNobodysToTake)
{
    std::ofstream(file()) << "{\"token\"";
    EXPECT_NE(error_of([&] { (void)take("b"); }).find("is not JSON"), std::string::npos);
    /* The file is empty: its maker got no further. */
    std::ofstream(file()).flush();
    EXPECT_EQ(code_of_taking("b"), 0);
}

TEST_F(JobOwners, OfTwoWhoTakeItAtOnceOneGetsIt)
{
    constexpr int many = 8;
    int start[2], result[2];
    ASSERT_EQ(::pipe(start), 0);
    ASSERT_EQ(::pipe(result), 0);
    std::vector<pid_t> children;
    for (int i = 0; i < many; i++) {
        children.push_back(::fork());
        if (children.back() == 0) {
            char byte = 0;
            ::close(start[1]);
            (void)!::read(start[0], &byte, 1); /* all at once: the end of the pipe */
            std::optional<JobOwnership> ownership;
            try {
                ownership.emplace(take(std::to_string(i)));
                byte = 'y';
            } catch (const Error &error) {
                byte = error.code() == EBUSY ? 'n' : 'e';
            }
            (void)!::write(result[1], &byte, 1);
            ::pause();
        }
    }
    ::close(start[1]);
    std::string answers;
    for (int i = 0; i < many; i++) {
        char byte = 0;
        ASSERT_EQ(::read(result[0], &byte, 1), 1);
        answers += byte;
    }
    for (const pid_t child : children) {
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
    }
    EXPECT_EQ(std::ranges::count(answers, 'y'), 1) << answers;
    EXPECT_EQ(std::ranges::count(answers, 'n'), many - 1) << answers;
}

} // namespace
