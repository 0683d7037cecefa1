/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_launch.cpp - launches whose ckpt-world does not do its part.
 */
#include "common/error.hpp"
#include "launch/launch.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

using namespace ckpt;
using namespace ckpt::launch;

namespace fs = std::filesystem;

namespace
{

/* Directory of ckpt's programs with a ckpt-world of one line, and what it says. */
class Launches : public testing::Test
{
  protected:
    void SetUp() override
    {
        std::string name = fs::temp_directory_path() / "ckpt-test-launch.XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        directory_ = name;
    }

    void TearDown() override { fs::remove_all(directory_); }

    /* Returns why the launch has failed. */
    std::string failure(const std::string &server, std::chrono::milliseconds limit)
    {
        const fs::path program = directory_ / "ckpt-world";
        std::ofstream(program) << "#!/bin/sh\n" + server + "\n";
        fs::permissions(program, fs::perms::owner_all);
        LaunchOptions options;
        options.ranks = 1;
        options.program = {"touch", directory_ / "rank"};
        options.start_limit = limit;
        try {
            (void)Launch(options, directory_).run();
        } catch (const Error &problem) {
            return problem.what();
        }
        return "";
    }

    bool has_started() const { return fs::exists(directory_ / "rank"); }

  private:
    fs::path directory_;
};

constexpr auto long_limit = std::chrono::minutes(10);

} // namespace

TEST_F(Launches, AServerThatHangsIsGivenUp)
{
    EXPECT_EQ(failure("exec cat >/dev/null", std::chrono::milliseconds(300)),
              "ckpt-world has not started within 0.3 s");
    EXPECT_FALSE(has_started());
}

TEST_F(Launches, AServerThatEndsIsNamed)
{
    EXPECT_EQ(failure("exit 3", long_limit), "ckpt-world has ended");
    EXPECT_FALSE(has_started());
}

TEST_F(Launches, AServerThatSaysNonsenseIsNamed)
{
    const std::string server = "printf '\\001\\000\\000\\000x' >&0; cat >/dev/null";
    const std::string why = failure(server, long_limit);

    EXPECT_TRUE(why.starts_with("ckpt-world has ended: ")) << why;
    EXPECT_FALSE(has_started());
}
