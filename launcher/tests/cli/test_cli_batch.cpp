/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_cli_batch.cpp - `ckpt run` in a batch system's job: settings from the batch system, the
 * job's name, and the end after a warning.
 */
#include "config.h"

#include "cli/run/batch_options.hpp"
#include "cli/run/job_name.hpp"
#include "cli/jobs/jobs.hpp"
#include "cli/run/slurm_nodes.hpp"
#include "cli/base/warning.hpp"
#include "common/host.hpp"
#include "image/store/job_owner.hpp"
#include "tests/cli/cli_fixture.hpp"

#include <CLI/CLI.hpp>

#include <csignal>

using namespace ckpt;
using namespace ckpt::cli;
using namespace ckpt::test;

namespace
{

/* Removes variables that a batch system around the tests may have set. */
class Batch : public CliTest
{
  protected:
    /* Options of a `ckpt run` with these words. */
    BatchOptions options(Words words = {}) const
    {
        BatchOptions options;
        CLI::App app("", "run");
        options.declare(app);
        std::reverse(words.begin(), words.end());
        app.parse(words);
        return options;
    }

    std::string refusal(const Words &words) const
    {
        try {
            options(words).check();
        } catch (const CommandError &error) {
            EXPECT_EQ(error.status(), exit_usage);
            return error.what();
        }
        return "";
    }

  private:
    Variable slurm_{"SLURM_JOB_ID", std::nullopt};
    Variable count_{"SLURM_RESTART_COUNT", std::nullopt};
    Variable pbs_{"PBS_JOBID", std::nullopt};
    Variable flux_{"FLUX_JOB_ID", std::nullopt};
};

TEST_F(Batch, ASchedulerIsKnownByItsVariables)
{
    EXPECT_EQ(current_scheduler().name, "");
    EXPECT_EQ(current_scheduler().job, "");
    {
        Variable id("FLUX_JOB_ID", "f2oeHL2nF1");
        EXPECT_EQ(current_scheduler().name, "Flux");
        EXPECT_EQ(current_scheduler().requeue_command, "");
    }
    Variable pbs("PBS_JOBID", "12[3].server");
    EXPECT_EQ(current_scheduler().job, "12_3_.server");
    EXPECT_EQ(current_scheduler().requeue_command, "qrerun '12[3].server'");
    Variable id("SLURM_JOB_ID", "17");
    EXPECT_EQ(current_scheduler().name, "Slurm");
    EXPECT_EQ(current_scheduler().restarts, 0u);
    Variable count("SLURM_RESTART_COUNT", "2");
    EXPECT_EQ(current_scheduler().restarts, 2u);
    EXPECT_EQ(current_scheduler().requeue_command, "scontrol requeue 17");
}

TEST_F(Batch, FactsAreFoundInWhatSlurmTells)
{
    const std::string text = "JobId=1 PreemptEligibleTime=2026 PreemptTime=None NodeList=n[1-2]"
                             " NumNodes=2\n";
    EXPECT_EQ(fact_in(text, "PreemptTime"), "None");
    EXPECT_EQ(fact_in(text, "NodeList"), "n[1-2]");
    EXPECT_EQ(fact_in(text, "NumNodes"), "2");
    EXPECT_EQ(fact_in(text, "Time"), "");
}

TEST_F(Batch, NodesThatAreLeftKeepTheirCounts)
{
    Environment left = variables_of_nodes({"n1", "n2", "n3", "n7"}, {"n1", "n3", "n7"},
                                          "2(x3),1", "4,8(x3)");
    EXPECT_EQ(left["SLURM_JOB_NODELIST"], "n1,n3,n7");
    EXPECT_EQ(left["SLURM_NNODES"], "3");
    EXPECT_EQ(left["SLURM_TASKS_PER_NODE"], "2,2,1");
    EXPECT_EQ(left["SLURM_JOB_CPUS_PER_NODE"], "4,8,8");
    EXPECT_TRUE(variables_of_nodes({"n1", "n2"}, {"n1"}, "2", "2").empty());
    EXPECT_TRUE(slurm_nodes_left().empty());
}

TEST_F(Batch, ResumesWhenItWasStartedAgain)
{
    EXPECT_FALSE(options().resumes());
    EXPECT_TRUE(options({"--resume"}).resumes());
    Variable id("SLURM_JOB_ID", "17");
    EXPECT_FALSE(options().resumes());
    Variable count("SLURM_RESTART_COUNT", "1");
    EXPECT_TRUE(options().resumes());
    EXPECT_FALSE(options({"--resume=off"}).resumes());
    Variable off("CKPT_RESUME", "off");
    EXPECT_FALSE(options().resumes());
}

TEST_F(Batch, RefusesWhatMakesNoSense)
{
    EXPECT_NE(ckpt_says({"run", "--resume=perhaps", "--", "true"}).err.find("--resume: 'perhaps'"),
              std::string::npos);
    EXPECT_NE(refusal({"--warning-signal", "KILL"}).find("--warning-signal: KILL"),
              std::string::npos);
    EXPECT_NE(refusal({"--requeue"}).find("not a job of a batch system"), std::string::npos);
    EXPECT_EQ(refusal({"--requeue=qsub again", "--warning-signal", "USR1,SIGTERM"}), "");
    Variable id("FLUX_JOB_ID", "f2oeHL2nF1");
    EXPECT_NE(refusal({"--requeue"}).find("Flux cannot"), std::string::npos);
}

TEST_F(Batch, SignalsHaveTwoNames)
{
    EXPECT_EQ(parse_signals("USR1,SIGTERM"), (std::set<int>{SIGUSR1, SIGTERM}));
    EXPECT_TRUE(parse_signals("").empty());
    EXPECT_THROW(parse_signals("USR1,,TERM"), Error);
}

TEST_F(Batch, EndsWithTheCodeThatSaysHow)
{
    Ending good, killed;
    killed.exit_code = 137;
    const BatchOptions plain = options();
    EXPECT_EQ(plain.end(killed, true, true, "job"), exit_resume);
    EXPECT_EQ(plain.end(killed, false, true, "job"), exit_resume);
    EXPECT_EQ(plain.end(good, false, true, "job"), 0) << "it was faster";
    EXPECT_EQ(plain.end(killed, false, false, "job"), 137);

    const std::filesystem::path asked = scratch_ / "asked";
    const BatchOptions requeue = options({"--requeue=touch " + asked.string()});
    requeue.end(killed, false, false, "job");
    EXPECT_FALSE(std::filesystem::exists(asked));
    EXPECT_EQ(requeue.end(killed, true, true, "job"), exit_resume);
    EXPECT_TRUE(std::filesystem::exists(asked));
}

TEST_F(Batch, SaysHowToGoOnIfTheRequestFails)
{
    Ending killed;
    killed.exit_code = 137;
    testing::internal::CaptureStderr();
    EXPECT_EQ(options({"--requeue=exit 3"}).end(killed, true, true, "job"), exit_resume);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("code 3; to go on start the job "
                                                          "again with --resume --name job"),
              std::string::npos);
}

class Names : public Batch
{
  protected:
    JobName take(const Words &command, const std::string &id = "17") const
    {
        Variable job("SLURM_JOB_ID", id);
        return default_job_name(command, current_scheduler(), {store_.directory(), {}});
    }

    std::string name(const Words &command, const std::string &id = "17") const
    {
        return take(command, id).text;
    }

    void save(const std::string &job, const Words &command) const
    {
        Manifest made = manifest(job, 1);
        made.launch.environment[command_variable] = command_identity(command);
        commit(made);
    }

    void begin(const std::string &job, const std::string &host) const
    {
        JobState state;
        state.name = job;
        state.state = "running";
        state.host = host;
        store_.write_job_state(state);
    }

    const Words first_ = {"mpirun", "-np", "2", "./app", "1"};
    const Words second_ = {"mpirun", "-np", "2", "./app", "2"};
};

TEST_F(Names, AreMadeOfTheBatchJob)
{
    EXPECT_EQ(name(first_), "app-17");
    EXPECT_EQ(name({"srun", "/bin/my app"}, "8[1].x"), "my_app-8_1_.x");
    EXPECT_EQ(default_job_name(first_, {}, {store_.directory(), {}}).text,
              "app-" + std::to_string(getpid()));
}

TEST_F(Names, TellCommandsOfOneBatchJobApart)
{
    save("app-17", first_);
    EXPECT_EQ(name(first_), "app-17");
    EXPECT_EQ(name(second_), "app-17.2");
    save("app-17.2", second_);
    EXPECT_EQ(name(first_), "app-17");
    EXPECT_EQ(name(second_), "app-17.2");
}

TEST_F(Names, FindACheckpointBehindACommandThatHasNone)
{
    begin("app-17", host_name()); /* its agent is gone */
    save("app-17.2", second_);
    EXPECT_EQ(name(second_), "app-17.2");
    EXPECT_EQ(name(first_), "app-17");
}

TEST_F(Names, AreNotSharedByCommandsThatRunAtTheSameTime)
{
    const JobName one = take(first_);
    const JobName other = take(second_);
    const JobName twin = take(first_);
    EXPECT_EQ(one.text, "app-17");
    EXPECT_EQ(other.text, "app-17.2");
    EXPECT_EQ(twin.text, "app-17.3");
    save("app-17.3", first_);
    save("app-17", first_);
    EXPECT_EQ(name(first_), "app-17.4") << "theirs";
}

TEST_F(Names, AreNotThoseOfALaunchThatMayStillRun)
{
    begin("app-17", "another-host");
    const JobOwnership launch(store_.directory() / "app-17", {.token = "launch"},
                              JobOwnership::Take::ask);
    EXPECT_EQ(name(first_), "app-17.2");
}

TEST_F(Batch, WhatRanOnALostNodeIsLost)
{
    JobState here, there;
    here.host = host_name();
    there.host = "another-host";
    EXPECT_FALSE(options().has_lost(there));
    Variable id("SLURM_JOB_ID", "17");
    Variable count("SLURM_RESTART_COUNT", "1");
    EXPECT_TRUE(options().has_lost(there));
    EXPECT_FALSE(options().has_lost(here));
}

} // namespace
