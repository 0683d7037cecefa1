/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_machine.cpp - an agent's information about its node: the file system
 * that it writes to, and the memory beside a rank.
 */
#include "agent/messages/file_system.hpp"
#include "agent/messages/frames.hpp"
#include "agent/base/processors.hpp"
#include "common/error.hpp"
#include "common/invariant.hpp"

#include "tests/common/child_process.hpp"

#include <gtest/gtest.h>

#include <sched.h>
#include <unistd.h>

#include <fstream>

static int visits; /* calls that bind a thread */

/* Replaces libc's function, also for hwloc. */
extern "C" int sched_setaffinity(pid_t, size_t, const cpu_set_t *) noexcept
{
    visits++;
    return 0;
}

namespace ckpt::test
{

namespace
{

using Kind = FileSystem::Kind;

/* Directories that do not exist on this machine, so that its own mounts do not
 * matter. */
constexpr const char *mounts = R"(
21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
22 21 0:21 / /no-such/tmp rw - tmpfs tmpfs rw,size=1g
30 21 0:40 / /no-such/home rw - nfs4 files:/home rw,vers=4.2,addr=10.0.0.1
31 30 0:41 / /no-such/home/my\040own rw - nfs files:/own rw
32 21 0:42 /part /no-such/bound rw - nfs4 files:/home rw
33 21 0:43 / /no-such/windows rw - cifs //files/share rw
34 21 0:44 / /no-such/9p rw - 9p tag rw,trans=virtio
35 21 0:45 / /no-such/ssh rw - fuse.sshfs user@files:/data rw
40 21 0:50 / /no-such/lustre rw - lustre 10.0.0.2@tcp:/scratch rw
41 21 0:51 / /no-such/gluster rw - fuse.glusterfs files:/volume rw
42 21 0:52 / /no-such/gpfs rw - gpfs gpfs0 rw
43 21 0:53 / /no-such/ceph rw - ceph 10.0.0.3:6789:/ rw
50 21 0:60 / /no-such/new rw - surprisefs files:/new rw
60 30 8:2 / /no-such/home/disk rw - ext4 /dev/sdb1 rw
61 21 0:70 / /no-such/auto rw - autofs /etc/auto.home rw
62 61 0:71 / /no-such/auto rw - nfs4 files:/auto rw
)";

class FileSystems : public testing::Test
{
  public:
    FileSystems()
    {
        std::ofstream(table) << mounts + 1;
    }
    FileSystem of(const char *directory)
    {
        return file_system_of(directory, table.c_str());
    }

    ScratchDirectory scratch;
    std::filesystem::path table = scratch / "mountinfo";
};

TEST_F(FileSystems, OfOneServer)
{
    EXPECT_EQ(of("/no-such/home/me/ckpt"),
              (FileSystem{Kind::server, "files:/home"}));
    EXPECT_EQ(of("/no-such/bound/ckpt"),
              (FileSystem{Kind::server, "files:/home"}));
    EXPECT_EQ(of("/no-such/windows"),
              (FileSystem{Kind::server, "//files/share"}));
    EXPECT_EQ(of("/no-such/9p"), (FileSystem{Kind::server, "tag"}));
    EXPECT_EQ(of("/no-such/ssh/x"),
              (FileSystem{Kind::server, "user@files:/data"}));
}

TEST_F(FileSystems, OfMany)
{
    EXPECT_EQ(of("/no-such/lustre/me"),
              (FileSystem{Kind::parallel, "10.0.0.2@tcp:/scratch"}));
    for (const char *one :
         {"/no-such/gluster", "/no-such/gpfs", "/no-such/ceph"}) {
        EXPECT_EQ(of(one).kind, Kind::parallel) << one;
        EXPECT_EQ(of(one).server(), "");
    }
}

TEST_F(FileSystems, OfTheNode)
{
    EXPECT_EQ(of("/no-such"), (FileSystem{Kind::local, "/dev/sda1"}));
    EXPECT_EQ(of("/no-such/tmp/ckpt"), (FileSystem{Kind::local, "tmpfs"}));
    EXPECT_EQ(of("/no-such/tmp/ckpt").server(), "");
    EXPECT_EQ(of("/no-such/new"), (FileSystem{Kind::local, "files:/new"}));
}

TEST_F(FileSystems, TheInnermostAndLastOneCounts)
{
    EXPECT_EQ(of("/no-such/home/my own/ckpt").source, "files:/own");
    EXPECT_EQ(of("/no-such/home/my/own").source, "files:/home");
    EXPECT_EQ(of("/no-such/home/disk/ckpt").kind, Kind::local);
    EXPECT_EQ(of("/no-such/home/disk/../me").source, "files:/home");
    EXPECT_EQ(of("/no-such/auto/me"),
              (FileSystem{Kind::server, "files:/auto"}));
}

TEST_F(FileSystems, BehindASymbolicLink)
{
    std::filesystem::create_directory(scratch / "there");
    std::filesystem::create_symlink("there", scratch / "link");
    std::ofstream(table, std::ios::app) << "70 21 0:80 / " << scratch / "there"
                                        << " rw - nfs4 files:/there rw\n";
    EXPECT_EQ(of((scratch / "link/me").c_str()).source, "files:/there");
}

TEST_F(FileSystems, WithoutATableIsLocal)
{
    EXPECT_EQ(file_system_of("/no-such/home", "/no-such/table"), FileSystem());
}

TEST_F(FileSystems, ThisMachineHasOne)
{
    EXPECT_NE(file_system_of(scratch.path()).source, "");
}

TEST_F(FileSystems, AreToldToTheCoordinator)
{
    for (const char *one :
         {"/no-such/home", "/no-such/lustre", "/no-such/tmp"}) {
        EXPECT_EQ(file_system_from(to_frame(of(one))), of(one));
    }
    EXPECT_EQ(file_system_from({{"kind", "new"}, {"source", "files:/new"}}),
              (FileSystem{Kind::local, "files:/new"}));
}

/* Both agents have the same limit, so that one does not send what the other one refuses. */
TEST(ClockFrames, HaveNoMoreClocksThanARankPage)
{
    std::vector<ckpt_clock> clocks(CKPT_CLOCK_SLOTS, ckpt_clock{7, 3, 2, 3, 1});
    nlohmann::json frame = to_frame(clocks);

    EXPECT_EQ(clocks_from(frame).size(), CKPT_CLOCK_SLOTS);
    for (auto &column : frame) {
        column.push_back(1);
    }
    EXPECT_THROW((void)clocks_from(frame), Error);
    clocks.emplace_back();
    EXPECT_THROW((void)to_frame(clocks), InvariantViolated);
    forget_violations();
}

TEST(Processors, KnowTheMemoryBesideThem)
{
    Processors node("package:2 numa:2 core:2 pu:2"); /* 16 processors */

    for (int processor = 0; processor < 16; processor++) {
        EXPECT_EQ(node.memory_beside(processor), processor / 4);
    }
    EXPECT_EQ(node.memory_beside(16), 0);
    EXPECT_EQ(node.memory_beside(-1), 0);
}

TEST(Processors, OfThisMachineHaveMemory)
{
    Processors here;

    EXPECT_GE(here.memory_of(getpid()), 0);
    EXPECT_EQ(here.memory_of(-1), 0);
}

TEST(Processors, ThatCannotBeDescribedCountAsOne)
{
    Processors node("nonsense");

    EXPECT_EQ(node.memory_beside(1), 0);
    EXPECT_EQ(node.memory_of(getpid()), 0);
}

TEST(Processors, AreNotVisited)
{
    visits = 0;
    Processors here;
    EXPECT_EQ(visits, 0);
}

} // namespace

} // namespace ckpt::test
