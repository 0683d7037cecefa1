/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_log_writer.cpp - lines are in the file at once; a hanging file delays no writer.
 */
#include "agent/base/log_writer.hpp"
#include "common/files/files.hpp"
#include "tests/common/child_process.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <string>

using namespace std::chrono_literals;
using ckpt::Fd;
using ckpt::LogWriter;
using ckpt::test::ScratchDirectory;

namespace
{

/* In bytes; writing a line to a full pipe blocks. */
constexpr std::size_t line_size = 4096;

std::string line_of(std::size_t i)
{
    std::string line = std::to_string(i);
    line.resize(line_size - 1, '.');
    return line + "\n";
}

/* A file that takes a few lines and then hangs until the test reads. */
struct HangingFile {
    HangingFile()
    {
        int ends[2];
        EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
        reading = Fd(ends[0]);
        writing = Fd(ends[1]);
        EXPECT_GE(::fcntl(ends[1], F_SETPIPE_SZ, line_size), 0);
    }

    std::string read_line()
    {
        std::string text(line_size, '\0');
        for (std::size_t got = 0; got < line_size;) {
            const ssize_t more = ::read(reading.get(), text.data() + got, line_size - got);
            if (more <= 0) {
                return "";
            }
            got += static_cast<std::size_t>(more);
        }
        return text;
    }

    Fd reading, writing;
};

TEST(LogWriter, HasWrittenWhenItReturns)
{
    ScratchDirectory scratch;
    const std::string path = scratch / "log";
    LogWriter writer(ckpt::open_file(path, O_WRONLY | O_CREAT | O_APPEND, 0600, "log"), 1h);
    std::string expected;

    for (int i = 0; i < 100; i++) {
        const std::string line = std::to_string(i) + "\n";
        writer.write(line);
        expected += line;
        ASSERT_EQ(ckpt::read_text_file(path, "log"), expected);
    }
}

TEST(LogWriter, DoesNotWaitForAFileThatHangs)
{
    constexpr std::size_t count = 50;
    HangingFile file;
    LogWriter writer(std::move(file.writing), 1ms);

    for (std::size_t i = 0; i < count; i++) {
        writer.write(line_of(i)); /* would wait for ever */
    }
    for (std::size_t i = 0; i < count; i++) {
        EXPECT_EQ(file.read_line(), line_of(i));
    }
}

TEST(LogWriter, TellsHowManyLinesAreLost)
{
    HangingFile file;
    std::size_t written = 0;
    {
        LogWriter writer(std::move(file.writing), 1ms);
        for (; written < LogWriter::most_lines + 100; written++) {
            writer.write(line_of(written));
        }
    }
    std::size_t read = 0;
    std::string line;
    while ((line = file.read_line()) == line_of(read)) {
        read++;
    }
    EXPECT_GE(read, LogWriter::most_lines);
    EXPECT_LT(read, written);
}

/* The agent ends while the file system hangs. */
TEST(LogWriter, EndsWithoutTheFile)
{
    HangingFile file;
    {
        LogWriter writer(std::move(file.writing), 1ms);
        for (std::size_t i = 0; i < 3; i++) {
            writer.write(line_of(i));
        }
    }
    for (std::size_t i = 0; i < 3; i++) {
        EXPECT_EQ(file.read_line(), line_of(i));
    }
    EXPECT_EQ(file.read_line(), ""); /* the thread has ended */
}

} // namespace
