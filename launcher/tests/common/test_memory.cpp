/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_memory.cpp - how much memory is still available, on machines that are simulated by files;
 * and work when little is left.
 */
#include "common/memory.hpp"
#include "common/parallel.hpp"

#include "tests/common/child_process.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>

using namespace ckpt;
using namespace ckpt::test;

namespace
{

/* The machine has 1000 KiB free. */
class AvailableMemory : public testing::Test
{
  protected:
    AvailableMemory() { write("proc/meminfo", "MemTotal: 4000 kB\nMemAvailable: 1000 kB\n"); }

    void write(const std::string &path, const std::string &text)
    {
        const std::filesystem::path file = scratch_ / path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    std::uint64_t available() const
    {
        return available_memory(scratch_ / "proc", scratch_ / "groups");
    }

  private:
    ScratchDirectory scratch_;
};

} // namespace

TEST_F(AvailableMemory, IsThatOfTheMachine)
{
    EXPECT_EQ(available(), 1000u * 1024);
    write("proc/self/cgroup", "0::/a/b\n");
    write("groups/a/b/memory.max", "max\n");
    write("groups/a/b/memory.current", "5000\n");
    EXPECT_EQ(available(), 1000u * 1024);
}

TEST_F(AvailableMemory, IsWhatAGroupLeaves)
{
    write("proc/self/cgroup", "0::/a/b\n");
    write("groups/a/b/memory.max", "8000\n");
    write("groups/a/b/memory.current", "5000\n");
    EXPECT_EQ(available(), 3000u);
    write("groups/a/memory.max", "7000\n"); /* and its parent groups */
    write("groups/a/memory.current", "6000\n");
    EXPECT_EQ(available(), 1000u);
    write("groups/a/memory.current", "9000\n");
    EXPECT_EQ(available(), 0u);
}

TEST_F(AvailableMemory, CountsWhatAGroupHasCached)
{
    write("proc/self/cgroup", "0::/a\n");
    write("groups/a/memory.max", "8000\n");
    write("groups/a/memory.current", "7000\n");
    write("groups/a/memory.stat", "anon 4000\ninactive_file 2500\nactive_file 500\n");
    EXPECT_EQ(available(), 3500u);
    write("groups/a/memory.stat", "anon 4000\ninactive_file 7001\n"); /* it changes meanwhile */
    EXPECT_EQ(available(), 8000u);
}

TEST_F(AvailableMemory, KnowsGroupsOfTheFirstVersion)
{
    write("proc/self/cgroup", "3:cpu,cpuacct:/x\n2:memory:/slurm/job\n0::/\n");
    write("groups/memory/slurm/job/memory.limit_in_bytes", "9000\n");
    write("groups/memory/slurm/job/memory.usage_in_bytes", "2000\n");
    EXPECT_EQ(available(), 7000u);
    write("groups/memory/slurm/job/memory.stat", "inactive_file 1\ntotal_inactive_file 500\n");
    EXPECT_EQ(available(), 7500u);
}

TEST(Parallel, WorksWithTheThreadsThatThereIsRoomFor)
{
    const int status = run_in_child([] {
        std::ifstream statm("/proc/self/statm");
        std::size_t pages = 0;
        statm >> pages;
        const rlim_t limit = pages * page + mebibyte; /* less than a stack */
        const struct rlimit limits = {limit, limit};
        std::atomic<int> done = 0;
        if (::setrlimit(RLIMIT_AS, &limits) != 0) {
            ::_exit(2);
        }
        parallel_for(100, 4, [&](std::size_t) { done++; });
        if (done != 100) {
            ::_exit(3);
        }
    });
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(ThisMachine, HasMemory)
{
    EXPECT_GT(available_memory(), 0u);
}
