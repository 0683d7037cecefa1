/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files whose names are missing at a restore, and restores that fail.
 */
#include "files_fixture.hpp"

#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>

TEST_F(Files, MissingFileIsMadeAgain)
{
    const std::string sub = directory + "/sub";
    const std::string name = sub + "/deep/file";

    std::filesystem::create_directories(sub + "/deep");
    int reader = hold(open(name.c_str(), O_RDONLY | O_CREAT, 0640));
    int place = hold(open((sub + "/deep").c_str(), O_RDONLY | O_DIRECTORY));
    int fd = hold(open(name.c_str(), O_RDWR));
    ASSERT_EQ(write(fd, "abcdef", 6), 6);
    ASSERT_EQ(save(), 0) << failure.text;
    std::filesystem::remove_all(sub);
    in_child([&] {
        char text[16] = "";
        struct stat status;

        REQUIRE(pread(reader, text, 15, 0) == 6 && std::string(text) == "abcdef");
        REQUIRE(lseek(fd, 0, SEEK_CUR) == 6);
        REQUIRE(stat(name.c_str(), &status) == 0);
        REQUIRE((status.st_mode & 07777) == 0640 && status.st_size == 6);
        REQUIRE(faccessat(place, "file", F_OK, 0) == 0);
    });
}

TEST_F(Files, MissingFileKeepsItsTwoNames)
{
    const std::string twin = directory + "/twin";

    std::filesystem::create_hard_link(path, twin);
    hold(open(twin.c_str(), O_RDONLY));
    hold(open(path.c_str(), O_RDWR));
    ASSERT_EQ(save(), 0) << failure.text;
    std::filesystem::remove(path);
    std::filesystem::remove(twin);
    in_child([&] {
        struct stat status, other;

        REQUIRE(stat(path.c_str(), &status) == 0 && stat(twin.c_str(), &other) == 0);
        REQUIRE(status.st_ino == other.st_ino && content() == "0123456789");
    });
}

TEST_F(Files, ARestoreThatIsImpossibleChangesNothing)
{
    const std::string input = directory + "/input";
    const std::string gone = directory + "/sub/gone";

    std::filesystem::create_directory(directory + "/sub");
    std::ofstream(input) << "in";
    hold(open(path.c_str(), O_RDWR));
    hold(open(gone.c_str(), O_RDWR | O_CREAT, 0600));
    hold(open(input.c_str(), O_RDONLY));
    ASSERT_EQ(save(), 0) << failure.text;
    std::ofstream(path) << "changed, and longer";
    std::filesystem::remove_all(directory + "/sub");
    std::filesystem::remove(input);
    expect_lost({input, "not in the checkpoint"});
    EXPECT_EQ(content(), "changed, and longer");
    EXPECT_FALSE(std::filesystem::exists(directory + "/sub"));
}

/* Failures that no check can foresee. */
TEST_F(Files, ARestoreThatFailsChangesNothing)
{
    const std::string gone = directory + "/sub/gone";
    const std::string locked = directory + "/locked";

    std::filesystem::create_directory(directory + "/sub");
    hold(open(path.c_str(), O_RDWR));
    hold(open(gone.c_str(), O_RDWR | O_CREAT, 0600));
    int fd = hold(open(locked.c_str(), O_RDWR | O_CREAT, 0600));
    ASSERT_EQ(flock(fd, LOCK_EX), 0);
    ASSERT_EQ(save(), 0) << failure.text;
    std::ofstream(path) << "changed, and longer";
    std::filesystem::remove_all(directory + "/sub");
    expect_lost({locked, "another process has locked it"}); /* this one */
    EXPECT_EQ(content(), "changed, and longer");
    EXPECT_FALSE(std::filesystem::exists(directory + "/sub"));
}

TEST_F(Files, FileThatIsAsItWasKeepsItsTime)
{
    const timespec times[2] = {{1000000000, 1}, {1000000000, 2}};

    hold(open(path.c_str(), O_RDWR));
    ASSERT_EQ(save(), 0) << failure.text;
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
    in_child([&] {
        struct stat status;

        REQUIRE(stat(path.c_str(), &status) == 0);
        REQUIRE(status.st_mtim.tv_sec == 1000000000 && status.st_mtim.tv_nsec == 2);
    });
    std::ofstream(path) << "012345678X";
    in_child([&] { REQUIRE(content() == "0123456789"); });
}

TEST_F(Files, DeletedFileThatIsOnlyWritten)
{
    int fd = hold(open(path.c_str(), O_WRONLY | O_APPEND));

    std::filesystem::remove(path);
    ASSERT_EQ(save(), 0) << failure.text;
    EXPECT_EQ(file(fd).payload_size, 10u);
    in_child([&] {
        const std::string link = "/proc/self/fd/" + std::to_string(fd);
        char text[16] = "";

        REQUIRE((fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND)) ==
                (O_WRONLY | O_APPEND));
        REQUIRE(write(fd, "x", 1) == 1);
        REQUIRE(read(open(link.c_str(), O_RDONLY), text, 15) == 11);
        REQUIRE(std::string(text) == "0123456789x");
    });
}

TEST_F(Files, DeletedFileThatMayNotBeReadIsRefused)
{
    int fd = hold(open(path.c_str(), O_WRONLY));
    const uid_t user = geteuid();

    ASSERT_EQ(fchmod(fd, 0200), 0);
    std::filesystem::remove(path);
    if (user == 0) { /* root may read everything */
        ASSERT_EQ(seteuid(65534), 0);
        ASSERT_EQ(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), 0); /* for /proc/self */
    }
    expect_refused(fd, "its mode forbids that");
    ASSERT_EQ(seteuid(user), 0);
    ASSERT_EQ(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
}
