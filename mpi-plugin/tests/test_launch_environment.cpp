// SPDX-License-Identifier: BSD-3-Clause
/*
 * test_launch_environment.cpp - what a process keeps of its environment under another launcher.
 */
extern "C" {
#include "lower/launch_environment.h"
}

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

namespace
{

class LaunchEnvironment : public testing::Test
{
  protected:
    // Returns the result, and the new settings in `made`.
    int make(std::vector<std::string> old, const std::string &block)
    {
        std::vector<char *> entries;

        for (std::string &entry : old) {
            entries.push_back(entry.data());
        }
        entries.push_back(nullptr);
        const int error = ckpt_launch_environment_make(entries.data(), block.data(), block.size(),
                                                       to.get(), &failure);
        for (char **entry = to->entries; error == 0 && *entry != nullptr; entry++) {
            made.emplace_back(*entry);
        }
        return error;
    }

    std::unique_ptr<ckpt_launch_environment> to = std::make_unique<ckpt_launch_environment>();
    ckpt_failure failure = {};
    std::vector<std::string> made;
};

std::string block(const std::vector<std::string> &settings)
{
    std::string all;

    for (const std::string &setting : settings) {
        all += setting + '\0';
    }
    return all;
}

TEST_F(LaunchEnvironment, DropsWhatTheOldLauncherMade)
{
    // As mpirun of Open MPI 4.1 and 5.0, and Hydra, make them.
    ASSERT_EQ(make({"PMIX_RANK=0", "PMIX_SERVER_URI41=a.0;tcp4://127.0.0.1:4", "PMI_FD=7",
                    "OMPI_MCA_orte_hnp_uri=1.0;tcp://192.0.2.2:4", "OMPI_MCA_ess=^singleton",
                    "OMPI_MCA_ess_base_vpid=0", "OMPI_COMM_WORLD_RANK=0", "OMPI_UNIVERSE_SIZE=2",
                    "OMPI_APP_CTX_NUM_PROCS=2", "OMPI_FIRST_RANKS=0", "OMPI_NUM_APP_CTX=1",
                    "OMPI_COMMAND=app", "OMPI_ARGV=-n 2", "OMPI_FILE_LOCATION=/tmp/ompi.host",
                    "OMPI_MCA_pmix=^s1", "OMPI_MCA_initial_wdir=/home", "PRTE_LAUNCHED=1",
                    "MPI_LOCALRANKID=0", "HYDI_CONTROL_FD=4"},
                   ""),
              0);
    EXPECT_TRUE(made.empty());
}

TEST_F(LaunchEnvironment, KeepsWhatTheUserHasSet)
{
    const std::vector<std::string> mine = {"PATH=/bin",
                                           "CKPT_DIR=/ckpt",
                                           "OMPI_MCA_pml=ob1",
                                           "OMPI_MCA_btl_vader_backing_directory=/x",
                                           "UCX_TLS=tcp",
                                           "PRTE_ALLOW_RUN_AS_ROOT=1",
                                           "OMPI_ALLOW_RUN_AS_ROOT=1",
                                           "EMPTY=",
                                           "MPI_HOME=/mpi"};

    ASSERT_EQ(make(mine, ""), 0);
    EXPECT_EQ(made, mine);
}

TEST_F(LaunchEnvironment, TheNewLauncherHasTheLastWord)
{
    ASSERT_EQ(make({"A=old", "AB=stays", "PMIX_RANK=0", "OMPI_MCA_ess=env"},
                   block({"PMIX_RANK=1", "A=new", "OMPI_MCA_ess=pmi"})),
              0);
    EXPECT_EQ(made, (std::vector<std::string>{"PMIX_RANK=1", "A=new", "OMPI_MCA_ess=pmi",
                                              "AB=stays"}));
}

TEST_F(LaunchEnvironment, RefusesWhatIsNoList)
{
    EXPECT_EQ(make({}, "A=1"), -EPROTO);              // no NUL after it
    EXPECT_EQ(make({}, block({"A=1", ""})), -EPROTO); // an empty setting
    EXPECT_EQ(make({}, block({"=1"})), -EPROTO);      // no name
    EXPECT_EQ(make({}, block({"A"})), -EPROTO);       // no value
    EXPECT_STRNE(failure.text, "");
}

TEST_F(LaunchEnvironment, RefusesMoreThanTheProcessCanHold)
{
    EXPECT_EQ(make({"B=" + std::string(CKPT_ENVIRONMENT_BYTES, 'x')}, block({"A=1"})), -E2BIG);
    std::vector<std::string> many(CKPT_ENVIRONMENT_ENTRIES, "C=1");
    EXPECT_EQ(make(many, ""), -E2BIG);
    many.resize(CKPT_ENVIRONMENT_ENTRIES - 1);
    EXPECT_EQ(make(many, ""), 0);
    EXPECT_EQ(made.size(), many.size());
}

} // namespace
