/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_opening.cpp - the real ckptd when its job's file system does not answer. The ranks run all
 * the same, requests end in time, and the job is saved when the file system answers.
 */
#include "config.h"
#include "common/files/files.hpp"
#include "image/store/job_directory.hpp"
#include "image/store/job_owner.hpp"
#include "image/store/store.hpp"
#include "tests/agent/fake_job.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>

#include <chrono>
#include <thread>

namespace ckpt
{

namespace fs = std::filesystem;
using test::Client;
using test::FakeJob;

namespace
{

/* A process that opens it waits, as on a hanging file system: the kernel waits for this process to
 * give back a lease. */
class HangingFile
{
  public:
    explicit HangingFile(const fs::path &path)
        : file_(open_file(path, O_RDWR | O_CREAT, 0600, "file"))
    {
        signal(SIGIO, SIG_IGN); /* the kernel's request to release */
        hangs_ = fcntl(file_.get(), F_SETLEASE, F_WRLCK) == 0;
    }

    bool hangs() const { return hangs_; }
    void go_on() { EXPECT_EQ(fcntl(file_.get(), F_SETLEASE, F_UNLCK), 0); }

  private:
    Fd file_;
    bool hangs_ = false;
};

class Opening : public testing::Test
{
  protected:
    void SetUp() override
    {
        make_private_directory(job.directory());
        make_job_directory(directory);
    }

    /* Starts two ranks while the file in the job's directory cannot be opened. */
    void start_without(const char *file)
    {
        hanging.emplace(directory / file);
        if (!hanging->hangs()) {
            GTEST_SKIP() << "the file system has no leases";
        }
        job.start(2);
    }

    control::Status status() { return job.ask("status").status; }

    Client request() const
    {
        control::Request request;
        request.command = "checkpoint";
        return {job.control_socket(), request};
    }

    void expect_no_answer(const std::string &text) const
    {
        EXPECT_NE(text.find("the file system of " + job.directory() + " does not answer"),
                  text.npos)
            << text;
    }

    FakeJob job;
    const fs::path directory = fs::path(job.directory()) / "fake";
    std::optional<HangingFile> hanging;
};

} // namespace

TEST_F(Opening, RanksBeginWithoutItAndRequestsEndInTime)
{
    job.set("CKPT_TIMEOUT", "1s");
    start_without(job_owner_name);
    EXPECT_EQ(status().phase, "running");
    expect_no_answer(status().last_error);
    const control::Reply refused = job.ask("checkpoint");
    EXPECT_EQ(refused.event, "error");
    expect_no_answer(refused.error);
    EXPECT_EQ(refused.error.find("not done after 1.00 s: "), 0u) << refused.error;
    EXPECT_EQ(status().failed, 1u);
    EXPECT_EQ(status().unprotected_since, 0); /* protection was never promised */
    hanging->go_on();
}

TEST_F(Opening, WhoWaitsIsToldAndServedWhenItAnswers)
{
    start_without(job_owner_name);
    Client one = request(), other = request();
    for (Client *client : {&one, &other}) {
        const auto told = client->next();
        ASSERT_TRUE(told);
        ASSERT_EQ(told->event, "progress");
        expect_no_answer(told->progress.waits_for);
    }
    hanging->go_on();
    const control::Reply first = one.last(), second = other.last();
    EXPECT_EQ(first.result.name, "fake/1") << first.error;
    EXPECT_EQ(second.result.name, "fake/1") << second.error;
}

TEST_F(Opening, WhatMakesACheckpointImpossibleIsToldAtOnce)
{
    start_without(job_owner_name);
    Client waiting = request();
    ASSERT_TRUE(waiting.next());
    job.rank(1).write_line("finalize");
    EXPECT_EQ(waiting.last().error, "rank 1 has already called MPI_Finalize");
    hanging->go_on();
}

TEST_F(Opening, PeriodicCheckpointsProtectTheJobByThemselves)
{
    job.set("CKPT_INTERVAL", "100ms");
    start_without(job_owner_name);
    EXPECT_GT(status().unprotected_since, 0);
    hanging->go_on();
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (status().committed == 0) {
        ASSERT_LT(std::chrono::steady_clock::now(), until);
        std::this_thread::yield();
    }
    EXPECT_EQ(status().unprotected_since, 0);
    EXPECT_EQ(status().last_error.find("the file system"), std::string::npos);
}

TEST_F(Opening, TheNameIsAnothersMeanwhile)
{
    /* Owned by this process, which lives. */
    (void)JobOwnership(directory, {.token = make_owner_token()}, JobOwnership::Take::ask);
    start_without(job_owner_name);
    EXPECT_EQ(status().job, "fake");
    hanging->go_on();
    const control::Reply done = job.ask("checkpoint");
    ASSERT_EQ(done.event, "result") << done.error;
    EXPECT_EQ(done.result.name, "fake-" + std::to_string(status().agent_pid) + "/1");
    EXPECT_EQ(status().job, done.result.job);
}

TEST_F(Opening, TheAgentOfAJobThatHasEndedWritesThatLater)
{
    start_without(job_owner_name);
    job.rank(0).write_line("finalize");
    job.rank(1).write_line("finalize");
    job.await_phase("ending");
    EXPECT_FALSE(Store(job.directory()).job_state("fake"));
    hanging->go_on();
    job.end();
    EXPECT_EQ(Store(job.directory()).job_state("fake")->state, "ended");
}

/* No writer waits for the log. */
TEST_F(Opening, TheLogComesLater)
{
    job.set("CKPT_HOST", "n1");
    start_without("ckptd-n1.log");
    EXPECT_EQ(status().phase, "running");
    hanging->go_on();
    ASSERT_TRUE(job.saves());
    const std::string log = read_text_file(directory / "ckptd-n1.log", "log");
    const auto late = log.find("does not answer"), rank = log.find("rank 0 of 2"),
               last = log.find("checkpoint fake/1 committed");
    EXPECT_LT(late, rank) << log;
    EXPECT_LT(rank, last) << log;
    EXPECT_NE(last, log.npos) << log;
    EXPECT_EQ(log.find("does not answer", late + 1), log.npos) << log;
}

} // namespace ckpt
