/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_files.cpp - whole files under their own names: two writers of one file, leftovers of a
 * killed writer, and replacements by other users.
 */
#include "common/files/directory.hpp"
#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/files/new_file.hpp"
#include "common/files/temporary_name.hpp"

#include "tests/common/child_process.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

using namespace ckpt;
using ckpt::test::ScratchDirectory;

namespace
{

void write(NewFile &file, std::string_view text)
{
    file.write(std::as_bytes(std::span(text)), 0);
    file.sync();
}

/* Another user's program may read it. */
TEST(NewFile, ThatInformsIsForAllWhateverTheMaskIs)
{
    ScratchDirectory scratch;
    const std::string path = scratch / "metrics";
    const mode_t before = ::umask(077);
    {
        NewFile given_up(path, "metrics", NewFile::Purpose::to_inform);
        write(given_up, "half");
    }
    EXPECT_TRUE(scratch.names().empty());
    NewFile file(path, "metrics", NewFile::Purpose::to_inform);
    write(file, "all");
    file.publish();
    ::umask(before);
    struct stat status;
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0644u);
    EXPECT_EQ(scratch.names(), std::vector<std::string>{"metrics"});
}

TEST(NewFile, HasANameThatNoOtherWriterHas)
{
    ScratchDirectory scratch;
    const std::filesystem::path path = scratch / "record";
    NewFile first(path, "record"), second(path, "record");

    EXPECT_NE(first.temporary(), second.temporary());
    write(first, "long text of the first");
    write(second, "second");
    first.publish();
    EXPECT_EQ(read_text_file(path, "record"), "long text of the first");
    second.publish();
    EXPECT_EQ(read_text_file(path, "record"), "second");
    EXPECT_EQ(scratch.names(), std::vector<std::string>{"record"});
}

TEST(TextFile, OfAKilledWriterIsNotTheRecord)
{
    ScratchDirectory scratch;
    const std::filesystem::path path = scratch / "record";

    write_text_file_atomically(path, "whole", "record");
    write_text_file(temporary_name(path), "to", "record");
    write_text_file(path.string() + ".tmp", "torn", "record"); /* of an older release */
    write_text_file(scratch / "record.json.0123.tmp", "of another file", "record");
    EXPECT_EQ(read_text_file(path, "record"), "whole");
    remove_temporaries(path);
    EXPECT_EQ(scratch.names(), (std::vector<std::string>{"record", "record.json.tmp"}));
}

TEST(TemporaryName, IsToldFromOthers)
{
    EXPECT_EQ(without_temporary_suffix("node-a.h5.tmp"), "node-a.h5");
    EXPECT_EQ(without_temporary_suffix("node-a.h5.0123456789abcdef.tmp"), "node-a.h5");
    EXPECT_EQ(without_temporary_suffix("node-a.h5.4711.tmp"), "node-a.h5");
    EXPECT_EQ(without_temporary_suffix("node-a.h5"), "node-a.h5");
    EXPECT_EQ(without_temporary_suffix("node-a.h5.x.tmp"), "node-a.h5.x");
    EXPECT_EQ(without_temporary_suffix(".tmp"), "");
}

TEST(OwnFile, IsRegularAndNoLinkAndOurs)
{
    ScratchDirectory scratch;
    const auto said = [&](const char *name) {
        return ckpt::test::error_of([&] { (void)read_own_text_file(scratch / name, "record"); });
    };

    write_text_file(scratch / "own", "text", "record");
    EXPECT_EQ(read_own_text_file(scratch / "own", "record"), "text");
    std::filesystem::create_symlink("own", scratch / "link");
    EXPECT_NE(said("link").find("is a link"), std::string::npos);
    ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
    EXPECT_NE(said("pipe").find("is not a regular file"), std::string::npos); /* at once */
    if (::geteuid() == 0) {
        ASSERT_EQ(::chown((scratch / "own").c_str(), 12345, 12345), 0);
        EXPECT_NE(said("own").find("belongs to uid 12345"), std::string::npos);
    }
}

/* Another user who can rename a job puts a link to the owner's other directory in its place:
 * nothing is removed there. */
TEST(Directory, IsBelowNoLink)
{
    ScratchDirectory scratch;
    const std::filesystem::path store = scratch / "store";

    std::filesystem::create_directories(scratch / "other/000001");
    std::filesystem::create_directory(store);
    std::filesystem::create_symlink("../other", store / "job");
    EXPECT_TRUE(Directory(store / "job" / "000001").names().empty());
    try {
        (void)Directory(store / "job" / "000001", 2);
        FAIL() << "it has been opened";
    } catch (const Error &error) {
        EXPECT_EQ(error.code(), ENOTDIR);
    }
    std::filesystem::create_symlink("store", scratch / "way"); /* by the user */
    std::filesystem::remove(store / "job");
    std::filesystem::create_directories(store / "job" / "000001");
    EXPECT_TRUE(Directory(std::filesystem::path(scratch / "way") / "job" / "000001", 2)
                    .names()
                    .empty());
}

/* The parent may be another user's directory with only search permission for all. */
TEST(LastingDirectory, NeedsNoReadableParent)
{
    ScratchDirectory scratch;
    const std::filesystem::path parent = scratch / "parent";

    make_lasting_directory(parent);
    ASSERT_EQ(::chmod(parent.c_str(), 0300), 0);
    make_private_directory(parent / "a" / "b");
    make_private_directory(parent / "a" / "b");
    ASSERT_EQ(::chmod(parent.c_str(), 0700), 0);
    EXPECT_TRUE(directory_exists(parent / "a" / "b"));
}

} // namespace
