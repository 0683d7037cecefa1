/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_pmix_server_file.cpp - the file in which a launcher's PMIx server publishes its address.
 */
#include "cli/launchers/pmix_server_file.hpp"
#include "tests/cli/cli_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include <unistd.h>

using namespace ckpt::cli;
using namespace ckpt::test;
namespace fs = std::filesystem;

namespace
{

class PmixServerFile : public CliTest
{
  protected:
    fs::path put(const fs::path &name) const
    {
        const fs::path path = scratch_ / name.string();
        fs::create_directories(path.parent_path());
        std::ofstream(path) << "server.0;tcp4://127.0.0.1:1\n";
        return path;
    }
    std::optional<fs::path> found() const { return pmix_server_file(4711, {scratch_.path()}); }
};

TEST_F(PmixServerFile, IsInTheDirectoryOfTheSession)
{
    put("ompi.4711/pmix.node.tool");
    put("ompi.4711/pmix.node.tool.prterun-4711@0");
    put("ompi.47110/pmix.node.tool.47110");
    EXPECT_EQ(found(), std::nullopt);
    const fs::path file = put("ompi.4711/pmix.node.tool.4711");
    EXPECT_EQ(found(), file);
}

TEST_F(PmixServerFile, MayBeOneDirectoryFurtherDown)
{
    const fs::path file = put("prte.node.0/dvm.4711/pmix.node.tool.4711");
    EXPECT_EQ(found(), file);
}

/* A directory for temporary files can contain a hundred thousand others. */
TEST_F(PmixServerFile, IsNotLookedForInOtherDirectories)
{
    put("other/pmix.node.tool.4711");
    put("other/ompi.4711/pmix.node.tool.4711");
    put("prte.node.0/other/dvm.4711/pmix.node.tool.4711");
    EXPECT_EQ(found(), std::nullopt);
}

TEST_F(PmixServerFile, IsNoLink)
{
    const fs::path file = put("elsewhere");
    fs::create_directories(scratch_ / "ompi.4711");
    fs::create_symlink(file, scratch_ / "ompi.4711/pmix.node.tool.4711");
    EXPECT_EQ(found(), std::nullopt);
}

/* The initial environment of the process decides. */
TEST_F(PmixServerFile, IsWhereTheLauncherHasItsTemporaryFiles)
{
    const auto directories = temporary_directories_of(getpid());
    ASSERT_FALSE(directories.empty());
    EXPECT_EQ(directories.back(), "/tmp");
    if (const char *own = std::getenv("TMPDIR")) {
        EXPECT_TRUE(std::ranges::count(directories, fs::path(own)));
    }
}

} // namespace
