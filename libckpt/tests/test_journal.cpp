/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_journal.cpp - the records that the file journal writes for each way to change files.
 *
 * The journal patches the libc of its process. So each test runs its program in a child, and reads
 * the logs afterwards.
 */
extern "C" {
#include "ckpt/journal.h"
#include "journal/call.h"
#include "journal/log/checksum.h"
#include "journal/journal.h"
#include "journal/log/record_locks.h"
#include "journal/sites.h"
#include "process/diverted.h"
}

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace
{

struct Entry {
    ckpt_journal_record record;
    std::string path, other, data;

    std::string text(const fs::path &top) const
    {
        static const char *const names[] = {
            "?", "BEGIN", "MARK", "ABSENT", "FILE", "SYMLINK", "DIRECTORY",
            "SPECIAL", "MOVED", "SIZE", "DATA", "CONTENT", "ATTRIBUTES", "STATE"};
        std::string short_path = path;
        if (path.starts_with(top.string() + "/")) {
            short_path = path.substr(top.string().size() + 1);
        }
        return std::string(names[record.type]) + " " + short_path;
    }
};

class Journal : public testing::Test
{
  protected:
    void SetUp() override
    {
        char pattern[] = "/tmp/ckpt-journal-XXXXXX";
        top_ = fs::canonical(mkdtemp(pattern));
        journal_ = top_ / "journal";
        fs::create_directories(journal_ / "kept");
        fs::create_directory(top_ / "w");
        ASSERT_EQ(chdir((top_ / "w").c_str()), 0);
        write("old", "old content\n");
    }

    void TearDown() override
    {
        ASSERT_EQ(chdir("/"), 0);
        fs::remove_all(top_);
    }

    static void write(const std::string &name, const std::string &text)
    {
        std::ofstream(name) << text;
    }

    static std::string read(const fs::path &path)
    {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    /* Runs `program` in a child with a journal; it must end with code 0. */
    void run(const std::function<void()> &program)
    {
        pid_t child = fork();
        if (child == 0) {
            ckpt_failure failure{};
            alarm(60);
            if (ckpt_journal_prepare(&failure) != 0 ||
                ckpt_journal_open(journal_.c_str(), 0, nullptr, &failure) != 0) {
                dprintf(2, "%s\n", failure.text);
                _exit(2);
            }
            program();
            _exit(0);
        }
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_EQ(status, 0);
    }

    std::vector<Entry> entries() const
    {
        std::vector<Entry> all;
        for (const auto &file : fs::directory_iterator(journal_)) {
            if (file.path().extension() == ".log") {
                read_log(read(file.path()), all);
            }
        }
        return all;
    }

    static void read_log(const std::string &bytes, std::vector<Entry> &all)
    {
        std::size_t at = 0;
        while (at < bytes.size()) {
            Entry entry;
            ckpt_journal_record &record = entry.record;
            ASSERT_LE(at + sizeof(record), bytes.size());
            std::memcpy(&record, bytes.data() + at, sizeof(record));
            ASSERT_EQ(record.magic, CKPT_JOURNAL_MAGIC);
            ASSERT_LE(at + record.length, bytes.size());
            EXPECT_EQ(record.checksum,
                      ~ckpt_checksum(CKPT_CHECKSUM_START,
                                     bytes.data() + at +
                                         offsetof(ckpt_journal_record, length),
                                     record.length -
                                         offsetof(ckpt_journal_record, length)));
            const char *text = bytes.data() + at + sizeof(record);
            entry.path = record.path_size != 0 ? text : "";
            text += record.path_size;
            entry.other = record.other_size != 0 ? text : "";
            entry.data.assign(text + record.other_size, record.data_size);
            all.push_back(entry);
            at += record.length;
        }
    }

    /* "TYPE PATH" of all records except BEGIN and STATE. */
    std::vector<std::string> texts() const
    {
        std::vector<std::string> all;
        for (const Entry &entry : entries()) {
            if (entry.record.type != CKPT_JOURNAL_BEGIN &&
                entry.record.type != CKPT_JOURNAL_STATE) {
                all.push_back(entry.text(top_ / "w"));
            }
        }
        return all;
    }

    fs::path top_, journal_;
};

using Texts = std::vector<std::string>;

void require(bool condition, int line)
{
    if (!condition) {
        dprintf(2, "line %d: %s\n", line, std::strerror(errno));
        _exit(1);
    }
}
#define REQUIRE(condition) require((condition), __LINE__)

void mark(std::uint64_t number)
{
    ckpt_failure failure{};
    REQUIRE(ckpt_journal_mark(number, 0, &failure) == 0);
}

void put(const char *name, const char *mode, const char *text)
{
    FILE *file = std::fopen(name, mode);
    REQUIRE(file != nullptr && std::fputs(text, file) >= 0 &&
            std::fclose(file) == 0);
}

} // namespace

TEST_F(Journal, ChecksumIsTheOneOfTheStandard)
{
    /* RFC 3720, appendix B.4: 32 bytes of zeros. */
    const char zeros[32] = {};
    EXPECT_EQ(~ckpt_checksum(CKPT_CHECKSUM_START, zeros, sizeof(zeros)), 0x8a9136aau);
}

TEST_F(Journal, ProcessThatChangesNothingHasNoLog)
{
    run([] {
        int fd = open("old", O_RDONLY);
        REQUIRE(fd >= 0 && close(fd) == 0);
        REQUIRE(open("missing", O_WRONLY) < 0);
    });
    EXPECT_TRUE(entries().empty());
}

TEST_F(Journal, NewFileIsRecordedOnce)
{
    run([] {
        for (int i = 0; i < 3; i++) {
            put("new", "w", "text");
        }
        put("new", "a", "more");
        REQUIRE(unlink("new") == 0);
    });
    EXPECT_EQ(texts(), (Texts{"ABSENT new"}));
}

TEST_F(Journal, AppendingRecordsTheSize)
{
    run([] {
        put("old", "a", "more\n");
        put("old", "a", "more\n");
    });
    ASSERT_EQ(texts(), (Texts{"SIZE old"}));
    EXPECT_EQ(entries().back().record.size, 12u);
}

TEST_F(Journal, EmptyingASmallFileRecordsItsBytes)
{
    run([] { put("old", "w", "other"); });
    ASSERT_EQ(texts(), (Texts{"SIZE old", "DATA old"}));
    EXPECT_EQ(entries().back().data, "old content\n");
}

TEST_F(Journal, EmptyingALargeFileKeepsIt)
{
    const std::string text(1 << 20, 'x');
    write("large", text);
    run([] { put("large", "w", "other"); });
    ASSERT_EQ(texts(), (Texts{"FILE large"}));
    EXPECT_EQ(read(entries().back().other), text);
    EXPECT_EQ(read("large"), "other");
}

TEST_F(Journal, EmptyingAnOpenLargeFileLeavesTheInode)
{
    const std::string text(1 << 20, 'x');
    struct stat before {
    }, after{};
    write("large", text);
    ASSERT_EQ(stat("large", &before), 0);
    run([] {
        int fd = open("large", O_RDONLY);
        struct stat status {
        };
        put("large", "w", "other");
        REQUIRE(fstat(fd, &status) == 0 && status.st_size == 5);
    });
    ASSERT_EQ(stat("large", &after), 0);
    EXPECT_EQ(before.st_ino, after.st_ino);
    ASSERT_EQ(texts(), (Texts{"CONTENT large"}));
    EXPECT_EQ(read(entries().back().other), text);
}

TEST_F(Journal, ReplacingByRenameKeepsTheOldFile)
{
    run([] {
        put("tmp", "w", "new content");
        REQUIRE(rename("tmp", "old") == 0);
        put("tmp", "w", "newer content");
        REQUIRE(rename("tmp", "old") == 0);
    });
    ASSERT_EQ(texts(), (Texts{"ABSENT tmp", "FILE old"}));
    EXPECT_EQ(read(entries().back().other), "old content\n");
}

TEST_F(Journal, OverwritingRecordsEachBlockOnce)
{
    const std::string text(3 * 4096 + 100, 'a');
    write("blocks", text);
    run([] {
        int fd = open("blocks", O_RDWR);
        REQUIRE(pwrite(fd, "b", 1, 4096 + 7) == 1);
        REQUIRE(pwrite(fd, "c", 1, 4096 + 9) == 1);
        REQUIRE(pwrite(fd, "cd", 2, 3 * 4096 + 50) == 2);
        REQUIRE(pwrite(fd, "e", 1, 5 * 4096) == 1);
        iovec part{const_cast<char *>("fg"), 2};
        REQUIRE(lseek(fd, 10, SEEK_SET) == 10 && writev(fd, &part, 1) == 2);
    });
    ASSERT_EQ(texts(), (Texts{"SIZE blocks", "DATA blocks", "DATA blocks", "DATA blocks"}));
    EXPECT_EQ(entries()[2].record.offset, 4096u);
    EXPECT_EQ(entries()[2].data, text.substr(0, 4096));
    EXPECT_EQ(entries()[3].data.size(), 100u);
    EXPECT_EQ(entries()[4].record.offset, 0u);
}

TEST_F(Journal, StdioThatGoesBackIsSeen)
{
    write("text", std::string(10000, 'a'));
    run([] {
        FILE *file = std::fopen("text", "r+");
        REQUIRE(std::fseek(file, 0, SEEK_END) == 0 && std::fputs("end", file) >= 0);
        REQUIRE(std::fseek(file, 5000, SEEK_SET) == 0 &&
                std::fputs("back", file) >= 0);
        REQUIRE(std::fclose(file) == 0);
    });
    ASSERT_EQ(texts(), (Texts{"SIZE text", "DATA text"}));
    EXPECT_EQ(entries().back().record.offset, 4096u);
}

TEST_F(Journal, WriteOnlyFileThatGoesBackIsSeen)
{
    run([] {
        int fd = open("old", O_WRONLY);
        REQUIRE(lseek(fd, 0, SEEK_END) == 12);
        REQUIRE(::write(fd, "more", 4) == 4);
        REQUIRE(lseek(fd, 0, SEEK_SET) == 0);
        REQUIRE(::write(fd, "OLD", 3) == 3);
    });
    ASSERT_EQ(texts(), (Texts{"SIZE old", "DATA old"}));
    EXPECT_EQ(entries().back().data, "old content\n"); /* without the new end */
}

/* Locks the first byte of a file for this process, until this process closes the file. */
int lock_record(const char *name, int flags)
{
    const int fd = open(name, flags);
    struct flock range {
    };

    range.l_type = (flags & O_ACCMODE) == O_RDONLY ? F_RDLCK : F_WRLCK;
    range.l_len = 1;
    REQUIRE(fd >= 0 && fcntl(fd, F_SETLK, &range) == 0);
    return fd;
}

/* Whether any process has locked the file, as another process sees it. */
bool is_locked(const char *name)
{
    const pid_t child = fork();
    int status = 0;

    if (child == 0) {
        const int fd = open(name, O_RDWR);
        struct flock range {
        };
        range.l_type = F_WRLCK;
        _exit(fd < 0 || fcntl(fd, F_GETLK, &range) != 0 ? 2
              : range.l_type == F_UNLCK                 ? 1
                                                        : 0);
    }
    REQUIRE(waitpid(child, &status, 0) == child && WIFEXITED(status));
    REQUIRE(WEXITSTATUS(status) < 2);
    return WEXITSTATUS(status) == 0;
}

TEST_F(Journal, RecordLocksStay)
{
    const std::string large(100000, 'a');
    write("written", large);
    write("both", large);
    write("cut", large);
    write("emptied", large);
    write("linked", large);
    write("direct", large);
    run([] {
        const int written = lock_record("written", O_WRONLY);
        REQUIRE(pwrite(written, "b", 1, 5000) == 1 && is_locked("written"));
        const int both = lock_record("both", O_RDWR);
        REQUIRE(::write(both, "bc", 2) == 2 && lseek(both, 0, SEEK_CUR) == 2);
        REQUIRE(is_locked("both"));
        lock_record("cut", O_RDONLY);
        REQUIRE(truncate("cut", 50000) == 0 && is_locked("cut"));
        lock_record("emptied", O_WRONLY);
        REQUIRE(truncate("emptied", 0) == 0 && is_locked("emptied"));
        const int linked = lock_record("linked", O_RDWR);
        REQUIRE(link("linked", "second") == 0 && ftruncate(linked, 9) == 0);
        REQUIRE(is_locked("linked"));
    });
    for (const Entry &entry : entries()) {
        if (entry.record.type == CKPT_JOURNAL_DATA) {
            EXPECT_EQ(entry.data, large.substr(entry.record.offset, entry.data.size()));
        }
    }
    const Texts found = texts();
    const auto has = [&](const char *text) {
        return std::find(found.begin(), found.end(), text) != found.end();
    };
    for (const char *text : {"DATA written", "DATA both", "DATA cut"}) {
        EXPECT_TRUE(has(text)) << text;
    }
}

TEST_F(Journal, RecordLocksOfBeforeItsBeginningStay)
{
    write("written", std::string(10000, 'a'));
    const int fd = open("written", O_WRONLY);
    run([fd, this] {
        /* The journal is opened again below, when the lock exists. */
        ckpt_journal_suspend();
        struct flock range {
        };
        range.l_type = F_WRLCK;
        REQUIRE(fcntl(fd, F_SETLK, &range) == 0);
        ckpt_record_locks_are_used = 0;
        ckpt_failure failure{};
        REQUIRE(ckpt_journal_open(journal_.c_str(), 0, nullptr, &failure) == 0);
        REQUIRE(pwrite(fd, "b", 1, 5000) == 1 && is_locked("written"));
    });
    ASSERT_EQ(close(fd), 0);
}

TEST_F(Journal, LimitOfFileSizesDoesNotEndTheProgram)
{
    write("large", std::string(1 << 20, 'a'));
    write("second", std::string(1 << 20, 'a'));
    write("third", std::string(1 << 20, 'a'));
    run([] {
        const rlimit limit{1 << 16, 1 << 16};
        const int fd = open("large", O_RDWR);
        const std::string text(5000, 'b');
        struct stat status {
        };
        REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
        /* The blocks with their records exceed the limit. */
        for (int i = 0; i < 10; i++) {
            REQUIRE(pwrite(fd, text.data(), text.size(), i * 5000) == 5000);
        }
        REQUIRE(truncate("second", 0) == 0);
        const int open_one = open("third", O_RDWR);
        REQUIRE(ftruncate(open_one, 0) == 0);
        REQUIRE(fstat(open_one, &status) == 0 && status.st_size == 0);
        mark(1);
        REQUIRE(pwrite(fd, text.data(), text.size(), 0) == 5000);
        REQUIRE(pwrite(fd, text.data(), text.size(), 30000) == 5000);
    });
}

TEST_F(Journal, ErrorAtAMarkLosesNoLaterRecord)
{
    run([this] {
        const std::string name(200, 'n');
        std::uintmax_t size = 0;
        rlimit before{};
        ckpt_failure failure{};
        for (int i = 0; i < 400; i++) { /* more records than are gathered for one write */
            put((name + std::to_string(i)).c_str(), "w", "text");
        }
        for (const auto &file : fs::directory_iterator(journal_)) {
            size += file.path().extension() == ".log" ? file.file_size() : 0;
        }
        REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
        /* The log has room for the mark, but not for the files in use. */
        const rlimit limit{size + sizeof(ckpt_journal_record), before.rlim_max};
        REQUIRE(signal(SIGXFSZ, SIG_IGN) != SIG_ERR); /* a rank that is saved blocks it */
        REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
        REQUIRE(ckpt_journal_mark(1, 0, &failure) == -EFBIG);
        REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
        put("after", "w", "text");
    });
    const auto all = texts();
    EXPECT_NE(std::ranges::find(all, "ABSENT after"), all.end());
}

TEST_F(Journal, MarkBeginsAgain)
{
    run([] {
        FILE *file = std::fopen("old", "a");
        std::setvbuf(file, nullptr, _IONBF, 0);
        std::fputs("1\n", file);
        mark(1);
        std::fputs("2\n", file);
        std::fputs("3\n", file);
        mark(2);
        std::fputs("4\n", file);
    });
    ASSERT_EQ(texts(), (Texts{"SIZE old", "MARK ", "SIZE old", "MARK ", "SIZE old"}));
    std::vector<std::uint64_t> sizes;
    for (const Entry &entry : entries()) {
        if (entry.record.type == CKPT_JOURNAL_SIZE) {
            sizes.push_back(entry.record.size);
        }
    }
    EXPECT_EQ(sizes, (std::vector<std::uint64_t>{12, 14, 18}));
}

TEST_F(Journal, MarkIsFollowedByTheFilesInUse)
{
    run([] {
        put("new", "w", "text");
        REQUIRE(close(open("old", O_RDONLY)) == 0);
        mark(1);
    }); /* except standard streams, of any kind */
    std::vector<std::string> states;
    for (const Entry &entry : entries()) {
        if (entry.record.type == CKPT_JOURNAL_STATE) {
            states.push_back(entry.text(top_ / "w") +
                             ((entry.record.flags & CKPT_JOURNAL_WRITTEN) != 0 ? " written" : ""));
        }
    }
    std::ranges::sort(states);
    EXPECT_EQ(states, (Texts{"STATE new written", "STATE old"}));
}

/* Returns the hash of a file with these bytes. */
std::uint64_t hash_of(const std::string &bytes)
{
    const std::size_t part = std::min<std::size_t>(bytes.size(), CKPT_JOURNAL_HASHED_BYTES);
    std::uint32_t state = ckpt_checksum(CKPT_CHECKSUM_START, bytes.data(), part);

    state = ckpt_checksum(state, bytes.data() + bytes.size() - part, part);
    return static_cast<std::uint32_t>(~state);
}

TEST_F(Journal, FileThatHasJustChangedIsHashed)
{
    const std::string large = std::string(3 << 20, 'a') + "the end";
    write("large", large);
    write("coarse", "whole seconds");
    run([&large] {
        timespec now{};
        REQUIRE(clock_gettime(CLOCK_REALTIME, &now) == 0);
        const timespec hour[2] = {{now.tv_sec - 3600, 7}, {now.tv_sec - 3600, 7}};
        const timespec second[2] = {{now.tv_sec, 0}, {now.tv_sec, 0}};
        put("old", "a", "");
        put("large", "a", "");
        put("coarse", "a", "");
        REQUIRE(utimensat(AT_FDCWD, "old", hour, 0) == 0);
        REQUIRE(utimensat(AT_FDCWD, "coarse", second, 0) == 0);
        const int fd = lock_record("large", O_WRONLY);
        REQUIRE(pwrite(fd, large.data(), 1, 0) == 1);
        mark(1);
        REQUIRE(is_locked("large"));
    });
    std::map<std::string, ckpt_journal_record> states;
    for (const Entry &entry : entries()) {
        if (entry.record.type == CKPT_JOURNAL_STATE) {
            states[fs::path(entry.path).filename()] = entry.record;
        }
    }
    ASSERT_EQ(states.size(), 3u);
    EXPECT_EQ(states["old"].flags & CKPT_JOURNAL_HASHED, 0u);
    EXPECT_NE(states["large"].flags & CKPT_JOURNAL_HASHED, 0u);
    EXPECT_EQ(states["large"].value, hash_of(large));
    EXPECT_NE(states["coarse"].flags & CKPT_JOURNAL_HASHED, 0u);
    EXPECT_EQ(states["coarse"].value, hash_of("whole seconds"));
}

TEST_F(Journal, NamesOfAllKinds)
{
    ASSERT_EQ(symlink("target", "link"), 0);
    ASSERT_EQ(mkfifo("pipe", 0600), 0);
    ASSERT_EQ(mkdir("empty", 0750), 0);
    run([] {
        REQUIRE(unlink("link") == 0);
        REQUIRE(std::remove("pipe") == 0);
        REQUIRE(rmdir("empty") == 0);
        REQUIRE(mkdir("made", 0700) == 0);
        REQUIRE(symlink("x", "made/link") == 0);
        REQUIRE(link("old", "second") == 0);
        REQUIRE(unlinkat(AT_FDCWD, "old", 0) == 0);
    });
    ASSERT_EQ(texts(), (Texts{"SYMLINK link", "SPECIAL pipe", "DIRECTORY empty", "ABSENT made",
                              "ABSENT made/link", "FILE old", "ABSENT second"}));
    EXPECT_EQ(entries()[1].other, "target");
}

/* The new name is gone before the rollback, so the old one has to lead to the file. */
TEST_F(Journal, FileThatIsChangedByANewNameIsKept)
{
    run([] {
        REQUIRE(link("old", "second") == 0);
        put("second", "r+", "1");
        REQUIRE(unlink("second") == 0);
    });
    const Texts found = texts();
    ASSERT_GE(found.size(), 3u);
    EXPECT_EQ(found[0], "FILE old");
    EXPECT_EQ(found[1], "ABSENT second");
    EXPECT_EQ(std::ranges::count(found, "FILE old"), 1);
}

TEST_F(Journal, DirectoryThatMovesTakesItsNamesAlong)
{
    ASSERT_EQ(mkdir("d", 0700), 0);
    run([] {
        put("d/a", "w", "1");
        REQUIRE(rename("d", "e") == 0);
        put("e/a", "w", "2");
        put("e/b", "w", "3");
    });
    const Texts found = texts();
    ASSERT_GE(found.size(), 4u);
    EXPECT_EQ(found[0], "ABSENT d/a");
    EXPECT_EQ(found[1], "ABSENT e");
    EXPECT_EQ(found[2], "MOVED d");
    EXPECT_NE(std::ranges::find(found, "ABSENT e/b"), found.end());
}

TEST_F(Journal, PathsAreFoundByEveryWay)
{
    ASSERT_EQ(mkdir("d", 0700), 0);
    ASSERT_EQ(symlink("d/linked", "link"), 0);
    run([] {
        int directory = open("d", O_RDONLY | O_DIRECTORY);
        REQUIRE(close(openat(directory, "at", O_WRONLY | O_CREAT, 0600)) == 0);
        REQUIRE(close(open("d/../d/./dots", O_WRONLY | O_CREAT, 0600)) == 0);
        REQUIRE(close(open("link", O_WRONLY | O_CREAT, 0600)) == 0);
        REQUIRE(chdir("d") == 0);
        REQUIRE(close(creat("here", 0600)) == 0);
    });
    EXPECT_EQ(texts(), (Texts{"ABSENT d/at", "ABSENT d/dots", "ABSENT d/linked", "ABSENT d/here"}));
}

TEST_F(Journal, TruncationAndAttributes)
{
    run([] {
        REQUIRE(truncate("old", 4) == 0);
        REQUIRE(chmod("old", 0600) == 0);
        timespec times[2] = {{1, 0}, {2, 0}};
        REQUIRE(utimensat(AT_FDCWD, "old", times, 0) == 0);
    });
    ASSERT_EQ(texts(), (Texts{"SIZE old", "DATA old", "ATTRIBUTES old"}));
    EXPECT_EQ(entries().back().record.mode & 07777, 0644u);
}

TEST_F(Journal, CopiesByTheKernelAreSeen)
{
    run([] {
        int from = open("/proc/self/exe", O_RDONLY), to = open("old", O_RDWR);
        off_t at = 0;
        REQUIRE(sendfile(to, from, &at, 5) == 5);
    });
    EXPECT_EQ(texts(), (Texts{"SIZE old", "DATA old"}));
}

TEST_F(Journal, MappedFileIsRecorded)
{
    run([] {
        int fd = open("old", O_RDWR);
        ckpt_journal_mapped(fd, 0, 4096);
    });
    EXPECT_EQ(texts(), (Texts{"SIZE old", "DATA old"}));
}

TEST_F(Journal, MappedFileIsNotCompared)
{
    run([] {
        int fd = open("new", O_RDWR | O_CREAT, 0600);
        REQUIRE(ftruncate(fd, 4096) == 0);
        ckpt_journal_mapped(fd, 0, 4096);
        mark(1);
    });
    for (const Entry &entry : entries()) {
        EXPECT_NE(entry.record.type, CKPT_JOURNAL_STATE);
    }
}

TEST_F(Journal, FileWithoutANameThatIsKeptIsStillRecorded)
{
    run([] {
        int fd = open("old", O_WRONLY | O_APPEND);
        REQUIRE(unlink("old") == 0);
        REQUIRE(::write(fd, "more", 4) == 4);
    });
    ASSERT_EQ(texts().size(), 2u);
    EXPECT_EQ(texts()[0], "FILE old");
    EXPECT_EQ(entries().back().record.type, CKPT_JOURNAL_SIZE);
    EXPECT_EQ(entries().back().record.inode, entries()[1].record.inode);
}

TEST_F(Journal, ChildWritesInTheSameLog)
{
    run([] {
        pid_t child = fork();
        if (child == 0) {
            ckpt_journal_forked();
            put("child", "w", "text");
            _exit(0);
        }
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child && status == 0);
        put("parent", "w", "text");
    });
    Texts found = texts();
    std::ranges::sort(found);
    EXPECT_EQ(found, (Texts{"ABSENT child", "ABSENT parent"}));
}

TEST_F(Journal, LogThatTheProgramClosesIsOpenedAgain)
{
    run([] {
        put("one", "w", "text");
        for (int fd = 3; fd < 1100; fd++) {
            close(fd);
        }
        put("two", "w", "text");
        closefrom(3);
        put("three", "w", "text");
    });
    EXPECT_EQ(texts(), (Texts{"ABSENT one", "ABSENT two", "ABSENT three"}));
}

TEST_F(Journal, WrongPointersAreTheKernelsBusiness)
{
    run([] {
        auto *wrong = reinterpret_cast<const char *>(8);
        REQUIRE(open(wrong, O_WRONLY | O_CREAT, 0600) < 0 && errno == EFAULT);
        REQUIRE(rename("old", wrong) < 0 && errno == EFAULT);
        REQUIRE(unlink(wrong) < 0 && errno == EFAULT);
    });
    EXPECT_TRUE(texts().empty());
}

TEST_F(Journal, VectorRegistersAndErrnoSurvive)
{
    run([] {
        errno = 77;
        register double value __asm__("xmm9") = 1.5;
        __asm__ volatile(""
                         : "+x"(value));
        int fd = creat("new", 0600);
        __asm__ volatile(""
                         : "+x"(value));
        REQUIRE(fd >= 0 && errno == 77);
    });
}

TEST_F(Journal, InterruptedCallBeginsAgain)
{
    run([] {
        /* Any patched site of libc: the one in unlink(). */
        auto *code = reinterpret_cast<const unsigned char *>(&unlink);
        ucontext_t context{};
        for (int i = 0; i < 64; i++) {
            if (ckpt_diverted_number(code + i) == 87) {
                context.uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(code + i);
            }
        }
        const greg_t at = context.uc_mcontext.gregs[REG_RIP];
        REQUIRE(at != 0);
        ckpt_diverted_rewind(&context);
        const greg_t again = context.uc_mcontext.gregs[REG_RIP];
        /* The stub: it has all arguments. */
        const unsigned char load[] = {0x49, 0xbb};
        REQUIRE(std::memcmp(reinterpret_cast<const void *>(again), load, 2) == 0);
        ckpt_diverted_rewind(&context); /* elsewhere: no effect */
        REQUIRE(context.uc_mcontext.gregs[REG_RIP] == again);
    });
}
