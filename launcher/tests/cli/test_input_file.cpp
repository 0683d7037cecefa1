/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_input_file.cpp - how much of a stream is kept while its directory is full, and when it has
 * room again.
 */
#include "cli/files/input_file.hpp"

#include "common/files/files.hpp"
#include "tests/common/child_process.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

using namespace ckpt;
using ckpt::cli::InputFile;
using ckpt::test::ScratchDirectory;

/* Limit in bytes for a file with a name. */
static off_t room = 1 << 20;

extern "C" ssize_t pwrite(int fd, const void *buffer, std::size_t size, off_t offset)
{
    struct stat status {
    };
    const bool is_named = ::fstat(fd, &status) == 0 && status.st_nlink > 0;

    if (is_named && offset >= room) {
        errno = ENOSPC;
        return -1;
    }
    const std::size_t part =
        is_named ? std::min(size, static_cast<std::size_t>(room - offset)) : size;
    return ::syscall(SYS_pwrite64, fd, buffer, part, offset);
}

namespace
{

class InputFileTest : public testing::Test
{
  protected:
    InputFileTest() { input.open(scratch / "stdin.part"); }

    void append(const std::string &text)
    {
        all += text;
        input.append(text);
        ASSERT_EQ(input.size(), all.size());
    }

    std::string read(std::uint64_t offset, std::size_t size) const
    {
        std::string text(size, '\0');
        input.read(text, offset);
        return text;
    }

    std::string file() const { return read_text_file(scratch / "stdin.part", "input"); }

    ScratchDirectory scratch;
    InputFile input;
    std::string all;
};

TEST_F(InputFileTest, IsInTheFile)
{
    room = 100;
    append("some ");
    append("text");
    EXPECT_EQ(input.in_memory(), 0u);
    EXPECT_EQ(file(), all);
    EXPECT_EQ(read(2, 5), all.substr(2, 5));
}

TEST_F(InputFileTest, LosesNothingInAFullDirectory)
{
    room = 12;
    append("written ");
    /* The file gets some of it, which does not count. */
    append("partly");
    append(" and not");
    EXPECT_EQ(input.in_memory(), 14u);
    EXPECT_EQ(input.why(), "No space left on device");
    for (std::size_t offset = 0; offset <= all.size(); offset++) {
        EXPECT_EQ(read(offset, all.size() - offset), all.substr(offset));
    }
}

TEST_F(InputFileTest, GoesIntoTheFileWhenThereIsRoom)
{
    room = 4;
    append("first");
    append(" second");
    input.settle();
    EXPECT_EQ(input.in_memory(), all.size());
    room = 1000;
    input.settle();
    EXPECT_EQ(input.in_memory(), 0u);
    EXPECT_EQ(file(), all);
    append(" third");
    EXPECT_EQ(file(), all);
    room = static_cast<off_t>(all.size());
    append(" fourth"); /* and once more */
    append(" fifth");
    EXPECT_EQ(read(0, all.size()), all);
    room = 1000;
    input.settle();
    EXPECT_EQ(file(), all);
}

} // namespace
