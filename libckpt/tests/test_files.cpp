/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_files.cpp - each kind of descriptor: saved, then restored in a process without it.
 */
#include "tests/files_fixture.hpp"

extern "C" {
#include "files/input.h"
#include "files/watched.h"
}

#include <csignal>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mqueue.h>
#include <string>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace
{

TEST_F(Files, ReadOnlyFileKeepsPositionFlagsAndSharing)
{
    int first = hold(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    int second = hold(open(path.c_str(), O_RDONLY));
    int duplicate = hold(dup(first));

    fcntl(first, F_SETFD, FD_CLOEXEC);
    lseek(first, 3, SEEK_SET);
    lseek(second, 3, SEEK_SET);
    ASSERT_EQ(save(), 0) << failure.text;
    EXPECT_EQ(file(first).kind, unsigned(CKPT_FILE_REGULAR));
    EXPECT_EQ(file(duplicate).same_as, first);
    EXPECT_EQ(file(second).same_as, -1);
    in_child([&] {
        char c = 0;

        REQUIRE(fcntl(first, F_GETFD) == FD_CLOEXEC);
        REQUIRE(fcntl(duplicate, F_GETFD) == 0);
        REQUIRE(read(first, &c, 1) == 1 && c == '3');
        REQUIRE(read(duplicate, &c, 1) == 1 && c == '4');
        REQUIRE(read(second, &c, 1) == 1 && c == '3');
        REQUIRE(fcntl(3, F_GETFD) < 0); /* nothing else was left open */
    });
}

/* Containers often forbid it. */
void forbid_kcmp()
{
    sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_kcmp, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    sock_fprog program = {std::size(code), code};

    REQUIRE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    REQUIRE(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
    REQUIRE(syscall(SYS_kcmp, getpid(), getpid(), 0, 0, 0) < 0);
}

TEST_F(Files, SharingIsSeenWithoutKcmp)
{
    int status = 0;
    const pid_t child = fork();

    if (child == 0) {
        int first = hold(open(path.c_str(), O_RDONLY));
        int second = hold(open(path.c_str(), O_RDONLY));
        int third = hold(open(path.c_str(), O_RDONLY));
        int duplicate = hold(dup(second));

        lseek(third, 4, SEEK_SET);
        forbid_kcmp();
        REQUIRE(save() == 0);
        REQUIRE(file(first).same_as == -1 && file(second).same_as == -1);
        REQUIRE(file(third).same_as == -1);
        REQUIRE(file(duplicate).same_as == second);
        REQUIRE(lseek(first, 0, SEEK_CUR) == 0);
        REQUIRE(lseek(duplicate, 0, SEEK_CUR) == 0);
        REQUIRE(lseek(third, 0, SEEK_CUR) == 4);
        _exit(0);
    }
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

TEST_F(Files, WriteOnlyFileIsCutBack)
{
    int fd = hold(open(path.c_str(), O_WRONLY | O_TRUNC));

    ASSERT_EQ(write(fd, "abc", 3), 3);
    ASSERT_EQ(save(), 0) << failure.text;
    ASSERT_EQ(write(fd, "later", 5), 5);
    in_child([&] {
        REQUIRE(content() == "abc");
        REQUIRE(write(fd, "d", 1) == 1);
        REQUIRE(content() == "abcd");
    });
}

TEST_F(Files, AppendedFileGoesOnAppending)
{
    int fd = hold(open(path.c_str(), O_WRONLY | O_APPEND));

    ASSERT_EQ(save(), 0) << failure.text;
    in_child([&] {
        REQUIRE((fcntl(fd, F_GETFL) & O_APPEND) != 0);
        lseek(fd, 0, SEEK_SET);
        REQUIRE(write(fd, "x", 1) == 1);
        REQUIRE(content() == "0123456789x");
    });
}

/* The log was rotated or removed: a new one is started. */
TEST_F(Files, LogThatIsGoneOrShorterIsNoFailure)
{
    int fd = hold(open(path.c_str(), O_WRONLY | O_APPEND));

    ASSERT_EQ(save(), 0) << failure.text;
    std::ofstream(path) << "new"; /* shorter */
    in_child([&] {
        REQUIRE(write(fd, "x", 1) == 1);
        REQUIRE(content() == "newx");
    });
    ASSERT_EQ(unlink(path.c_str()), 0);
    in_child([&] {
        REQUIRE(write(fd, "y", 1) == 1);
        REQUIRE(content() == "y");
    });
}

TEST_F(Files, ReadWriteFileGetsItsContentBack)
{
    int fd = hold(open(path.c_str(), O_RDWR));
    int other = hold(open(path.c_str(), O_RDWR | O_APPEND));

    lseek(fd, 5, SEEK_SET);
    ASSERT_EQ(save(), 0) << failure.text;
    EXPECT_EQ(file(fd).payload_size, 10u);
    EXPECT_EQ(file(other).payload, file(fd).payload);
    std::ofstream(path) << "XX"; /* changed and shorter */
    in_child([&] {
        char text[8] = "";

        REQUIRE(content() == "0123456789");
        REQUIRE(read(fd, text, 3) == 3 && std::string(text) == "567");
    });
    std::ofstream(path, std::ios::app) << std::string(100, 'y');
    in_child([&] { REQUIRE(content() == "0123456789"); });
}

TEST_F(Files, ReadWriteFileBeyondTheLimitIsRefused)
{
    setenv("CKPT_FILE_LIMIT", "9", 1);
    ckpt_files_open();
    int fd = hold(open(path.c_str(), O_RDWR));
    expect_refused(fd, path);
    EXPECT_NE(std::string(failure.text).find("CKPT_FILE_LIMIT (9)"),
              std::string::npos)
        << failure.text;
    setenv("CKPT_FILE_LIMIT", "10", 1);
    ckpt_files_open();
    EXPECT_EQ(save(), 0) << failure.text;
}

/* Only their data counts, and they are sparse again. */
TEST_F(Files, SparseFilesAreNotLongOnes)
{
    constexpr off_t length = 256 << 20;
    int fd = hold(memfd_create("sparse", 0));
    int named = hold(open(path.c_str(), O_RDWR));

    for (int sparse : {fd, named}) {
        ASSERT_EQ(ftruncate(sparse, length), 0);
        ASSERT_EQ(pwrite(sparse, "in the middle", 13, length / 2), 13);
        ASSERT_EQ(lseek(sparse, 7, SEEK_SET), 7);
    }
    ASSERT_EQ(save(), 0) << failure.text;
    EXPECT_EQ(file(fd).size, std::uint64_t(length));
    EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 7);
    in_child([&] {
        struct stat status;
        char text[16] = "";

        REQUIRE(fstat(fd, &status) == 0 && status.st_size == length);
        REQUIRE(status.st_blocks < 1000);
        REQUIRE(pread(fd, text, 13, length / 2) == 13);
        REQUIRE(strcmp(text, "in the middle") == 0);
        REQUIRE(lseek(fd, 0, SEEK_CUR) == 7);
        REQUIRE(fstat(named, &status) == 0 && status.st_size == length);
        REQUIRE(status.st_blocks < 1000);
    });
    /* The named one has its first page, too. */
    setenv("CKPT_FILE_LIMIT", "8K", 1);
    ckpt_files_open();
    ASSERT_EQ(save(), 0) << failure.text;
    ASSERT_EQ(pwrite(fd, std::string(8192, 'm').data(), 8192, 0), 8192);
    expect_refused(fd, "its 12288 bytes exceed CKPT_FILE_LIMIT (8192)");
    EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 7);
}

/* Without a limit from the user, the limit is the free space for checkpoints. */
TEST_F(Files, FreeSpaceIsTheLimit)
{
    const int fd = hold(memfd_create("large", 0));

    ASSERT_EQ(write(fd, "0123456789", 10), 10);
    ckpt_files_keep_in("/proc,/tmp"); /* no space is free there */
    expect_refused(fd, "its 10 bytes exceed the free space in /proc (0)");
    setenv("CKPT_FILE_LIMIT", "10", 1);
    ckpt_files_open();
    EXPECT_EQ(save(), 0) << failure.text;
    unsetenv("CKPT_FILE_LIMIT");
    ckpt_files_open();
    ckpt_files_keep_in("/tmp,/proc");
    EXPECT_EQ(save(), 0) << failure.text;
    ckpt_files_keep_in(nullptr);
    EXPECT_EQ(save(), 0) << failure.text;
}

/* Private pages of this process, in bytes. */
static std::size_t own_memory()
{
    std::ifstream status("/proc/self/status");
    std::string word;
    std::size_t kilobytes = 0;

    while (status >> word && word != "RssAnon:") {
    }
    status >> kilobytes;
    return kilobytes << 10;
}

/* Content is shown by mappings, which are regions of the image but not of the process. */
TEST_F(Files, LargeContentIsNotCopied)
{
    constexpr std::size_t mebibyte = 1 << 20, data = 24, length = 40;
    const int fd = hold(memfd_create("large", 0));
    const int named = hold(open(path.c_str(), O_RDWR));
    const int offset = 5; /* of the data, in MiB */

    for (std::size_t i = 0; i < data; i++) {
        const std::string text(mebibyte, static_cast<char>('a' + i));
        for (int one : {fd, named}) {
            ASSERT_EQ(pwrite(one, text.data(), mebibyte, (off_t)((offset + i) * mebibyte)),
                      (ssize_t)mebibyte);
        }
    }
    for (int one : {fd, named}) {
        ASSERT_EQ(ftruncate(one, (off_t)(length * mebibyte - 100)), 0);
    }
    ckpt_arena_reset(&arena);
    const std::size_t before = own_memory();
    ASSERT_EQ(ckpt_files_save(&arena, is_lower, &files, &count, &failure), 0) << failure.text;
    EXPECT_LT(own_memory(), before + mebibyte);
    read_contents();

    const ckpt_region *regions = nullptr;
    const std::size_t region_count = ckpt_files_content_regions(&regions);
    std::size_t shown = 0, mapped = 0;
    for (std::size_t i = 0; i < region_count; i++) {
        EXPECT_EQ(regions[i].kind, unsigned(CKPT_REGION_FILE_CONTENT));
        (regions[i].protection != 0 ? shown : mapped) += regions[i].end - regions[i].start;
    }
    EXPECT_GE(shown, 2 * data * mebibyte);
    /* This includes the first page of the named one. */
    EXPECT_LT(shown, 2 * data * mebibyte + mebibyte);
    EXPECT_EQ(shown + mapped, 2 * length * mebibyte);
    in_child([&] {
        char first = 0, last = 0, hole = 1;
        struct stat status;

        for (int one : {fd, named}) {
            REQUIRE(fstat(one, &status) == 0);
            REQUIRE((std::size_t)status.st_size == length * mebibyte - 100);
            REQUIRE(pread(one, &first, 1, offset * (off_t)mebibyte) == 1 && first == 'a');
            REQUIRE(pread(one, &last, 1, (off_t)((offset + data) * mebibyte) - 1) == 1);
            REQUIRE(last == 'a' + (int)data - 1);
            REQUIRE(pread(one, &hole, 1, offset * (off_t)mebibyte - 1) == 1 && hole == 0);
        }
    });
    ckpt_files_allow_mappings(0);
    ASSERT_EQ(save(), 0) << failure.text;
    EXPECT_EQ(ckpt_files_content_regions(&regions), 0u);
    EXPECT_GT(own_memory(), before + 2 * data * mebibyte);
    ckpt_files_allow_mappings(1);
    ASSERT_EQ(save(), 0) << failure.text;
    EXPECT_GT(ckpt_files_content_regions(&regions), 0u);
    const auto start = reinterpret_cast<void *>(regions[0].start);
    ckpt_files_release();
    EXPECT_EQ(ckpt_files_content_regions(&regions), 0u);
    EXPECT_EQ(msync(start, 4096, MS_ASYNC), -1) << "it is still mapped";
}

/* Mapped parts of a file without a name are restored with the program's memory. */
TEST_F(Files, MappedPartsOfNamelessFilesAreNotShown)
{
    constexpr std::size_t mebibyte = 1 << 20, length = 40 * mebibyte;
    const int fd = hold(memfd_create("mapped", MFD_ALLOW_SEALING));
    const std::string text(length, 'm');
    const ckpt_region *regions = nullptr;

    ASSERT_EQ(write(fd, text.data(), length), (ssize_t)length);
    char *writable = static_cast<char *>(mmap(nullptr, 16 * mebibyte, PROT_READ | PROT_WRITE,
                                              MAP_SHARED, fd, 8 * mebibyte));
    char *readable = static_cast<char *>(
        mmap(nullptr, 4 * mebibyte, PROT_READ, MAP_SHARED, fd, 32 * mebibyte));
    ASSERT_NE(writable, MAP_FAILED);
    ASSERT_NE(readable, MAP_FAILED);
    const auto shown = [&] {
        std::vector<std::pair<std::size_t, std::size_t>> parts; /* MiB: begin, end */
        const std::size_t regions_count = ckpt_files_content_regions(&regions);
        for (std::size_t i = 0; i < regions_count; i++) {
            if (regions[i].protection != 0) {
                parts.emplace_back((regions[i].start - file(fd).payload) / mebibyte,
                                   (regions[i].end - file(fd).payload) / mebibyte);
            }
        }
        return parts;
    };
    ASSERT_EQ(save(), 0) << failure.text;
    EXPECT_EQ(shown(), (std::vector<std::pair<std::size_t, std::size_t>>{{0, 8}, {24, 40}}));
    munmap(writable, 16 * mebibyte);
    munmap(readable, 4 * mebibyte);
    /* With this seal, the program's memory cannot restore any part. */
    ASSERT_EQ(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
    ASSERT_EQ(save(), 0) << failure.text;
    EXPECT_EQ(shown(), (std::vector<std::pair<std::size_t, std::size_t>>{{0, 40}}));
}

/* Direct I/O needs aligned memory and sizes. */
TEST_F(Files, FilesOpenForDirectTransfers)
{
    const int opened_so = open(path.c_str(), O_RDWR | O_DIRECT);

    if (opened_so < 0) {
        GTEST_SKIP() << "no direct transfers here: " << strerror(errno);
    }
    const int fd = hold(opened_so);
    ASSERT_EQ(save(), 0) << failure.text;
    EXPECT_EQ(file(fd).payload_size, 10u);
    std::ofstream(path) << "changed";
    in_child([&] {
        REQUIRE(content() == "0123456789");
        REQUIRE((fcntl(fd, F_GETFL) & O_DIRECT) != 0);
    });
    std::filesystem::remove(path);
    ASSERT_EQ(save(), 0) << failure.text; /* deleted */
    in_child([&] {
        alignas(4096) static char bytes[4096];
        REQUIRE(pread(fd, bytes, sizeof bytes, 0) == 10);
        REQUIRE(std::string(bytes) == "0123456789");
    });
}

TEST_F(Files, TheLimitMayHaveAUnit)
{
    setenv("CKPT_FILE_LIMIT", "9", 1);
    ckpt_files_open();
    int fd = hold(open(path.c_str(), O_RDWR));
    expect_refused(fd, path);
    setenv("CKPT_FILE_LIMIT", "1K", 1);
    ckpt_files_open();
    EXPECT_EQ(save(), 0) << failure.text;

    testing::internal::CaptureStderr();
    setenv("CKPT_FILE_LIMIT", "5x", 1);
    ckpt_files_open();
    EXPECT_NE(testing::internal::GetCapturedStderr().find("5x"),
              std::string::npos);
    EXPECT_EQ(save(), 0) << "the limit was changed";
}

TEST_F(Files, ChangedFilesAreNotTakenForTheOldOnes)
{
    hold(open(path.c_str(), O_RDONLY));
    ASSERT_EQ(save(), 0) << failure.text;
    std::filesystem::resize_file(path, 9);
    expect_lost({path, "shorter"});
    std::filesystem::remove(path);
    expect_lost({path, "No such file"});
    std::filesystem::create_directory(path);
    expect_lost({path, "type"});
}

TEST_F(Files, DeletedAndRenamedFiles)
{
    int fd = hold(open(path.c_str(), O_RDONLY));

    std::filesystem::rename(path, path + "2");
    ASSERT_EQ(save(), 0) << failure.text;
    EXPECT_STREQ(arena.strings + file(fd).path, (path + "2").c_str());
    std::filesystem::create_hard_link(path + "2", path + "3");
    std::filesystem::remove(path + "2");
    expect_refused(fd, "lost this name");
    std::filesystem::remove(path + "3");
    EXPECT_EQ(save(), 0) << failure.text;
}

TEST_F(Files, AMessageQueueIsNoFileWithoutAName)
{
    const std::string name = "/ckpt-test-" + std::to_string(getpid());
    const mqd_t queue = mq_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600, nullptr);

    if (queue == -1) {
        GTEST_SKIP() << "no message queues here: " << strerror(errno);
    }
    mq_unlink(name.c_str());
    expect_refused(hold(queue), "a POSIX message queue");
}

TEST_F(Files, SecretMemoryIsNoFileWithoutAName)
{
    const auto secret = static_cast<int>(syscall(SYS_memfd_secret, 0));

    if (secret < 0) {
        GTEST_SKIP() << "no secret memory here: " << strerror(errno);
    }
    expect_refused(hold(secret), "memfd_secret");
}

TEST_F(Files, DeletedFileKeepsItsContent)
{
    int fd = hold(open(path.c_str(), O_RDWR));
    int copy = hold(dup(fd));
    int reader = hold(open(path.c_str(), O_RDONLY));
    int nameless = hold(open(directory.c_str(), O_TMPFILE | O_RDWR, 0640));

    lseek(fd, 4, SEEK_SET);
    ASSERT_EQ(write(nameless, "never named", 11), 11);
    ASSERT_EQ(fchmod(fd, 0400), 0);
    std::filesystem::remove(path);
    ASSERT_EQ(save(), 0) << failure.text;
    EXPECT_EQ(file(fd).kind, unsigned(CKPT_FILE_UNNAMED));
    EXPECT_EQ(file(copy).same_as, fd);
    const auto check = [&] {
        char text[16] = "";
        struct stat status;

        REQUIRE(pread(reader, text, 15, 0) == 10);
        REQUIRE(std::string(text) == "0123456789");
        REQUIRE(write(fd, "x", 1) == 1 && lseek(copy, 0, SEEK_CUR) == 5);
        REQUIRE(pread(reader, text, 6, 0) == 6 && text[4] == 'x');
        REQUIRE(fstat(reader, &status) == 0 && status.st_nlink == 0);
        REQUIRE((status.st_mode & 0777) == 0400);
        REQUIRE(pread(nameless, text, 15, 0) == 11 && text[10] == 'd');
        REQUIRE(lseek(nameless, 0, SEEK_CUR) == 11);
    };
    in_child(check);
    std::filesystem::remove_all(directory); /* then in another place */
    in_child(check);
    setenv("CKPT_FILE_LIMIT", "3", 1);
    ckpt_files_open();
    expect_refused(fd, "CKPT_FILE_LIMIT (3)");
}

TEST_F(Files, MemoryFileKeepsContentNameAndSeals)
{
    int fd = hold(memfd_create("a name", MFD_ALLOW_SEALING));
    int plain = hold(memfd_create("plain", 0));

    ASSERT_EQ(write(fd, "content", 7), 7);
    ASSERT_EQ(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK), 0);
    ASSERT_EQ(ftruncate(plain, 5000), 0);
    ASSERT_EQ(save(), 0) << failure.text;
    in_child([&] {
        char text[5000] = "";
        const std::string link =
            std::filesystem::read_symlink("/proc/self/fd/" +
                                          std::to_string(fd));

        REQUIRE(link == "/memfd:a name (deleted)");
        REQUIRE(lseek(fd, 0, SEEK_CUR) == 7 && pread(fd, text, 9, 0) == 7);
        REQUIRE(std::string(text) == "content");
        REQUIRE(fcntl(fd, F_GET_SEALS) == (F_SEAL_WRITE | F_SEAL_SHRINK));
        REQUIRE(write(fd, "x", 1) < 0 && errno == EPERM);
        REQUIRE(fcntl(plain, F_GET_SEALS) == F_SEAL_SEAL);
        REQUIRE(pread(plain, text, 5000, 0) == 5000);
    });
}

TEST_F(Files, EpollWatchesAgain)
{
    int ends[2];

    ASSERT_EQ(pipe(ends), 0);
    int out = hold(ends[0]);
    int in = hold(ends[1]);
    int inner = hold(epoll_create1(0));
    int outer = hold(epoll_create1(EPOLL_CLOEXEC));
    int copy = hold(dup(inner));
    epoll_event event{EPOLLIN | EPOLLONESHOT, {.u64 = 0x123456789abcdef0}};

    ASSERT_EQ(epoll_ctl(inner, EPOLL_CTL_ADD, out, &event), 0);
    event.events = EPOLLIN;
    event.data.fd = inner;
    ASSERT_EQ(epoll_ctl(outer, EPOLL_CTL_ADD, inner, &event), 0);
    for (int i = 0; i < 300; i++) { /* more than a page of fdinfo */
        int other = hold(eventfd(0, 0));
        ASSERT_EQ(epoll_ctl(outer, EPOLL_CTL_ADD, other, &event), 0);
    }
    ASSERT_EQ(save(), 0) << failure.text;
    EXPECT_EQ(file(copy).same_as, inner);
    in_child([&] {
        epoll_event got{};

        REQUIRE(epoll_wait(outer, &got, 1, 0) == 0);
        REQUIRE(write(in, "x", 1) == 1);
        REQUIRE(epoll_wait(outer, &got, 1, 1000) == 1 && got.data.fd == inner);
        REQUIRE(epoll_wait(copy, &got, 1, 1000) == 1);
        REQUIRE(got.events == EPOLLIN && got.data.u64 == 0x123456789abcdef0);
        REQUIRE(epoll_wait(inner, &got, 1, 0) == 0); /* only once */
    });
    int gone = dup(out);
    ASSERT_EQ(epoll_ctl(outer, EPOLL_CTL_ADD, gone, &event), 0);
    close(gone);
    expect_refused(outer, "descriptor " + std::to_string(gone));
}

/* Adds a watch as the stand-in does for programs. */
int watch(int fd, const std::string &path, std::uint32_t mask)
{
    const int number = inotify_add_watch(fd, path.c_str(), mask);

    ckpt_watched_add(fd, number, mask, path.c_str());
    return number;
}

/* Returns the watch of the only event, or 0. */
int only_event(int fd)
{
    alignas(inotify_event) char buffer[4096];
    const ssize_t size = read(fd, buffer, sizeof buffer);
    const auto *event = reinterpret_cast<const inotify_event *>(buffer);

    return size == ssize_t(sizeof *event + event->len) ? event->wd : 0;
}

TEST_F(Files, InotifyWatchesAgainUnderTheSameNumbers)
{
    const int first = hold(inotify_init1(0));
    const int second = hold(inotify_init1(IN_NONBLOCK));
    const int copy = hold(dup(second));
    const int last = 30000; /* more events than the kernel queues */

    ckpt_watched_open(first);
    ckpt_watched_open(second);
    ASSERT_EQ(watch(first, directory, IN_CREATE), 1);
    for (int i = 1; i <= last; i++) {
        ASSERT_EQ(watch(second, directory, IN_DELETE), i);
        ASSERT_TRUE(i == last || inotify_rm_watch(second, i) == 0);
        ASSERT_TRUE(i == last || only_event(second) == i);
    }
    ASSERT_EQ(watch(second, path, IN_ATTRIB | IN_ONESHOT), last + 1);
    ASSERT_EQ(watch(second, "/", IN_CREATE), last + 2);
    inotify_rm_watch(second, last + 2);
    ASSERT_EQ(only_event(second), last + 2);
    ASSERT_EQ(save(), 0) << failure.text;
    EXPECT_EQ(file(copy).same_as, second);
    in_child([&] {
        const std::string other = directory + "/other";

        REQUIRE((fcntl(first, F_GETFL) & O_NONBLOCK) == 0);
        REQUIRE(only_event(copy) == 0 && errno == EAGAIN);
        std::ofstream(other) << "x";
        REQUIRE(only_event(first) == 1);
        REQUIRE(only_event(second) == 0 && errno == EAGAIN);
        std::filesystem::remove(other);
        REQUIRE(only_event(copy) == last);
        chmod(path.c_str(), 0600);
        REQUIRE(only_event(second) == 0); /* two: it ends */
        chmod(path.c_str(), 0640);
        REQUIRE(only_event(second) == 0 && errno == EAGAIN);
        REQUIRE(inotify_add_watch(second, "/", IN_CREATE) == last + 3);
    });
}

TEST_F(Files, InotifyIsRefusedWithEventsOrWithoutItsPath)
{
    const int fd = hold(inotify_init1(0));
    const std::string moved = directory + "/moved";

    ASSERT_EQ(watch(fd, path, IN_ATTRIB), 1);
    chmod(path.c_str(), 0600);
    expect_refused(fd, "events that have not been read");
    ASSERT_EQ(only_event(fd), 1);
    std::filesystem::rename(path, moved);
    std::ofstream(path) << "another";
    expect_refused(fd, "watch 1 ");
    std::filesystem::rename(moved, path);
    ASSERT_EQ(save(), 0) << failure.text;
    ASSERT_EQ(inotify_add_watch(fd, "/", IN_CREATE), 2); /* not noted */
    expect_refused(fd, "watch 2 ");
}

TEST_F(Files, LocksComeBack)
{
    int fd = hold(open(path.c_str(), O_RDONLY));

    ASSERT_EQ(flock(fd, LOCK_EX), 0);
    ASSERT_EQ(save(), 0) << failure.text;
    expect_lost({path, "locked"}); /* this process still has the lock */
    ASSERT_EQ(flock(fd, LOCK_UN), 0);
    in_child([&] {
        int again = open(path.c_str(), O_RDONLY);

        REQUIRE(flock(again, LOCK_SH | LOCK_NB) < 0);
        REQUIRE(flock(fd, LOCK_UN) == 0);
        REQUIRE(flock(again, LOCK_SH | LOCK_NB) == 0);
    });

    ASSERT_EQ(fcntl(fd, F_SETLEASE, F_RDLCK), 0);
    expect_refused(fd, "O_ASYNC"); /* the lease implies it */
}

TEST_F(Files, LocksOfRangesComeBack)
{
    int fd = hold(open(path.c_str(), O_RDWR));
    int own = hold(open(path.c_str(), O_RDWR));
    struct flock range {
    };

    range.l_type = F_WRLCK;
    range.l_start = 2;
    range.l_len = 3;
    ASSERT_EQ(fcntl(fd, F_SETLK, &range), 0);
    range = {};
    range.l_type = F_RDLCK;
    range.l_start = 7; /* to the end */
    ASSERT_EQ(fcntl(own, F_OFD_SETLK, &range), 0);
    ASSERT_EQ(save(), 0) << failure.text;
    const int holder = getpid();
    range.l_type = F_UNLCK;
    ASSERT_EQ(fcntl(own, F_OFD_SETLK, &range), 0);
    in_child([&] { /* the parent still has one */
                   ckpt_failure why{};
                   REQUIRE(ckpt_files_lock(&why) == -EAGAIN);
                   REQUIRE(strstr(why.text, std::to_string(fd).c_str()) != nullptr);
                   REQUIRE(holder == getppid());
    });
    range.l_start = 2;
    ASSERT_EQ(fcntl(fd, F_SETLK, &range), 0);
    in_child([&] {
        ckpt_failure why{};
        struct flock test {
        };

        REQUIRE(ckpt_files_lock(&why) == 0);
        test.l_type = F_WRLCK;
        REQUIRE(fcntl(own, F_OFD_GETLK, &test) == 0);
        REQUIRE(test.l_type == F_WRLCK && test.l_pid == getpid());
        REQUIRE(test.l_start == 2 && test.l_len == 3);
        test = {};
        test.l_type = F_WRLCK;
        test.l_start = 5;
        REQUIRE(fcntl(fd, F_GETLK, &test) == 0);
        REQUIRE(test.l_type == F_RDLCK && test.l_pid == -1);
        REQUIRE(test.l_start == 7 && test.l_len == 0);
    });
}

TEST_F(Files, FilesOfTheKernel)
{
    int fd = hold(open("/proc/meminfo", O_RDONLY));
    int size = hold(open("/sys/kernel/mm/transparent_hugepage/enabled", O_RDONLY));

    ASSERT_EQ(save(), 0) << failure.text;
    in_child([&] {
        char text[64] = "";

        REQUIRE(read(fd, text, 9) == 9 && std::strcmp(text, "MemTotal:") == 0);
        REQUIRE(read(size, text, sizeof text) > 0);
    });
}

TEST_F(Files, SettingsOfTheKernelAreRefused)
{
    if (geteuid() != 0) {
        GTEST_SKIP() << "only root may open one";
    }
    int fd = hold(open("/proc/sys/kernel/hostname", O_WRONLY));

    expect_refused(fd, "kernel open for writing");
}

TEST_F(Files, Directory)
{
    int fd = hold(open(directory.c_str(), O_RDONLY | O_DIRECTORY));

    ASSERT_EQ(save(), 0) << failure.text;
    EXPECT_EQ(file(fd).kind, unsigned(CKPT_FILE_DIRECTORY));
    in_child([&] { REQUIRE(faccessat(fd, "file", R_OK, 0) == 0); });
}

TEST_F(Files, PipeKeepsItsBytes)
{
    int ends[2];

    ASSERT_EQ(pipe2(ends, O_NONBLOCK), 0);
    int out = hold(ends[0]);
    int in = hold(ends[1]);
    const std::string text(100000, 'p');
    ASSERT_GE(fcntl(in, F_SETPIPE_SZ, 1 << 18), 1 << 18);
    ASSERT_EQ(write(in, text.data(), text.size()), ssize_t(text.size()));
    ASSERT_EQ(save(), 0) << failure.text;
    in_child([&] {
        std::string got(text.size() + 1, '\0');

        REQUIRE(fcntl(in, F_GETPIPE_SZ) == 1 << 18);
        REQUIRE((fcntl(out, F_GETFL) & O_NONBLOCK) != 0);
        REQUIRE(read(out, got.data(), got.size()) == ssize_t(text.size()));
        REQUIRE(got.compare(0, text.size(), text) == 0);
        REQUIRE(read(out, got.data(), 1) < 0 && errno == EAGAIN);
        REQUIRE(write(in, "q", 1) == 1 && read(out, got.data(), 1) == 1);
        REQUIRE(close(in) == 0 && read(out, got.data(), 1) == 0);
    });
    /* The save consumed no bytes. */
    std::string got(text.size(), '\0');
    EXPECT_EQ(read(out, got.data(), got.size()), ssize_t(text.size()));
    EXPECT_EQ(got, text);
}

TEST_F(Files, PipeWhoseOtherEndIsElsewhereOrGone)
{
    int ends[2];

    ASSERT_EQ(pipe(ends), 0);
    int out = hold(ends[0]);
    lower = ends[1]; /* as if it belonged to another process */
    ASSERT_EQ(write(ends[1], "last", 4), 4);
    ASSERT_EQ(save(), 0) << failure.text;
    EXPECT_TRUE(ckpt_files_lead_out());
    EXPECT_EQ(file(out).value & CKPT_PIPE_ALONE, 0u);
    lower = -1;
    close(ends[1]);
    ASSERT_EQ(save(), 0) << failure.text;
    EXPECT_NE(file(out).value & CKPT_PIPE_ALONE, 0u);
    in_child([&] {
        char text[16] = "";

        REQUIRE(read(out, text, sizeof text) == 4);
        REQUIRE(std::string(text) == "last" && read(out, text, 1) == 0);
    });
}

TEST_F(Files, PipesWithOneEnd)
{
    int read_from[2];
    int written_to[2];

    ASSERT_EQ(pipe(read_from), 0);
    ASSERT_EQ(pipe(written_to), 0);
    ASSERT_EQ(write(read_from[1], "last", 4), 4);
    int out = hold(read_from[0]);
    int in = hold(written_to[1]);
    close(read_from[1]);
    close(written_to[0]);
    ASSERT_EQ(save(), 0) << failure.text;
    in_child([&] {
        char text[8];

        REQUIRE(read(out, text, sizeof text) == 4);
        REQUIRE(read(out, text, sizeof text) == 0);
        signal(SIGPIPE, SIG_IGN);
        REQUIRE(write(in, text, 1) == -1 && errno == EPIPE);
    });
}

TEST_F(Files, Eventfd)
{
    int counter = hold(eventfd(0, EFD_NONBLOCK));
    int semaphore = hold(eventfd(3, EFD_SEMAPHORE));
    int empty = hold(eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK));
    int full = hold(eventfd(0, EFD_NONBLOCK));

    ASSERT_EQ(eventfd_write(counter, 0x1234567890abcdef), 0);
    ASSERT_EQ(eventfd_write(full, UINT64_MAX - 1), 0);
    ASSERT_EQ(save(), 0) << failure.text;
    const auto check = [&] {
        eventfd_t value = 0;

        REQUIRE(eventfd_read(counter, &value) == 0);
        REQUIRE(value == 0x1234567890abcdef);
        REQUIRE(eventfd_read(counter, &value) < 0 && errno == EAGAIN);
        for (int i = 0; i < 3; i++) {
            REQUIRE(eventfd_read(semaphore, &value) == 0 && value == 1);
        }
        REQUIRE((fcntl(semaphore, F_GETFL) & O_NONBLOCK) == 0);
        REQUIRE(eventfd_read(empty, &value) < 0 && errno == EAGAIN);
        REQUIRE(eventfd_write(empty, 2) == 0);
        REQUIRE(eventfd_read(empty, &value) == 0 && value == 1);
        REQUIRE(eventfd_read(full, &value) == 0 && value == UINT64_MAX - 1);
    };
    in_child(check);
    in_child(check); /* our own still has its bytes */
}

TEST_F(Files, Devices)
{
    std::vector<int> fds;

    for (const char *name : {"/dev/null", "/dev/zero", "/dev/urandom"}) {
        fds.push_back(hold(open(name, O_RDWR)));
    }
    ASSERT_EQ(save(), 0) << failure.text;
    in_child([&] {
        char c = 1;

        REQUIRE(read(fds[0], &c, 1) == 0);
        REQUIRE(read(fds[1], &c, 1) == 1 && c == 0);
        REQUIRE(read(fds[2], &c, 1) == 1);
    });
}

TEST_F(Files, StreamsAreTheNewLaunchers)
{
    int ends[2];
    int launch[2];
    int status = 0;

    /* A process whose output is a pipe, with a duplicate of the pipe. */
    ASSERT_EQ(pipe(ends), 0);
    ASSERT_EQ(pipe(launch), 0);
    const pid_t child = fork();
    if (child == 0) {
        const int number = fcntl(launch[1], F_DUPFD, 900);

        REQUIRE(dup2(ends[1], 1) == 1);
        close_range(3, 899, 0);
        ckpt_files_open();
        const int duplicate = hold(dup(1));
        lower = number; /* not the application's */
        REQUIRE(save() == 0);
        REQUIRE(file(1).kind == CKPT_FILE_STREAM && file(1).detail == 1);
        REQUIRE(file(duplicate).kind == CKPT_FILE_STREAM);
        REQUIRE(file(duplicate).detail == 1);
        /* The new launch provides another pipe. */
        REQUIRE(dup2(number, 1) == 1);
        REQUIRE(restore() == 0);
        REQUIRE(write(duplicate, "hello", 5) == 5);
        struct stat now, then;
        REQUIRE(fstat(1, &now) == 0 && fstat(duplicate, &then) == 0);
        REQUIRE(now.st_ino == then.st_ino);
        ckpt_files_resume();
        REQUIRE(save() == 0 && file(duplicate).detail == 1);
        REQUIRE(file(duplicate).kind == CKPT_FILE_STREAM);
        _exit(0);
    }
    close(ends[1]);
    close(launch[1]);
    char text[8] = "";
    EXPECT_EQ(read(ends[0], text, sizeof text), 0) << text;
    EXPECT_EQ(read(launch[0], text, sizeof text), 5);
    EXPECT_STREQ(text, "hello");
    close(ends[0]);
    close(launch[0]);
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

TEST_F(Files, RedirectedAndClosedStreams)
{
    int status = 0;
    const pid_t child = fork();

    if (child == 0) {
        int fd = open(path.c_str(), O_WRONLY | O_APPEND);

        REQUIRE(dup2(fd, 1) == 1 && close(fd) == 0 && close(0) == 0);
        REQUIRE(save() == 0);
        REQUIRE(file(1).kind == CKPT_FILE_REGULAR);
        REQUIRE(open("/dev/null", O_RDONLY) == 0 && dup2(0, 1) == 1);
        REQUIRE(restore() == 0);
        REQUIRE(write(1, "!", 1) == 1 && content() == "0123456789!");
        REQUIRE(open("/dev/null", O_RDONLY) == 0); /* 0 was closed again */
        _exit(0);
    }
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

/* A file that the launcher opened is a stream; a file that the program opened is not. */
class FilesOfLauncher : public Files, public testing::WithParamInterface<int>
{
};

TEST_P(FilesOfLauncher, OutputFileIsAStream)
{
    const int stream = GetParam();
    int status = 0;
    const pid_t child = fork();

    if (child == 0) {
        const std::string next = path + ".next";
        char text[CKPT_OUTPUT_SIZE];
        int fd = open(path.c_str(), O_WRONLY | O_APPEND);

        REQUIRE(dup2(fd, stream) == stream && close(fd) == 0);
        ckpt_output_text(text);
        REQUIRE(setenv(CKPT_OUTPUT_VARIABLE, text, 1) == 0);
        ckpt_files_open();
        const int duplicate = hold(dup(stream));
        const int own = hold(open(path.c_str(), O_WRONLY));
        REQUIRE(save() == 0);
        REQUIRE(file(stream).kind == CKPT_FILE_STREAM &&
                file(stream).detail == static_cast<unsigned>(stream));
        REQUIRE(file(duplicate).kind == CKPT_FILE_STREAM);
        REQUIRE(file(own).kind == CKPT_FILE_REGULAR);
        REQUIRE(write(stream, "later", 5) == 5);
        close(own);
        REQUIRE(save() == 0);
        const int launched = open(next.c_str(), O_WRONLY | O_CREAT, 0600);
        REQUIRE(dup2(launched, stream) == stream && unlink(next.c_str()) == 0);
        REQUIRE(restore() == 0);
        REQUIRE(write(duplicate, "new", 3) == 3 && lseek(stream, 0, SEEK_CUR) == 3);
        REQUIRE(content() == "0123456789later"); /* not truncated */
        ckpt_files_resume();
        REQUIRE(save() == 0 && file(duplicate).kind == CKPT_FILE_STREAM);
        ckpt_output_text(text);
        REQUIRE(std::string(getenv(CKPT_OUTPUT_VARIABLE)) == text);
        _exit(0);
    }
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

INSTANTIATE_TEST_SUITE_P(Streams, FilesOfLauncher, testing::Values(1, 2));

TEST_F(Files, OthersAreRefusedByName)
{
    int fd = hold(socket(AF_NETLINK, SOCK_RAW, 0));

    expect_refused(fd, "a socket of address family 16");
    close(fd);
    fd = hold(open(path.c_str(), O_PATH));
    expect_refused(fd, "O_PATH");
    close(fd);
    EXPECT_EQ(save(), 0) << failure.text;
}

TEST_F(Files, PipeWithAName)
{
    const std::string name = directory + "/fifo";

    ASSERT_EQ(mkfifo(name.c_str(), 0640), 0);
    const int both = hold(open(name.c_str(), O_RDWR));
    const int out = hold(open(name.c_str(), O_RDONLY | O_NONBLOCK));
    ASSERT_EQ(write(both, "bytes", 5), 5);
    ASSERT_EQ(save(), 0) << failure.text;
    EXPECT_FALSE(ckpt_files_lead_out());
    ASSERT_EQ(unlink(name.c_str()), 0);
    in_child([&] {
        char text[16] = "";
        struct stat status {
        };

        REQUIRE(read(out, text, sizeof text) == 5);
        REQUIRE(std::string(text) == "bytes");
        REQUIRE(stat(name.c_str(), &status) == 0 && S_ISFIFO(status.st_mode));
        REQUIRE((status.st_mode & 07777) == 0640);
        REQUIRE(write(both, "x", 1) == 1 && read(out, text, 1) == 1);
    });
}

TEST_F(Files, ManyDescriptorsAndKeptOnes)
{
    constexpr int many = 600;
    std::vector<int> fds;

    for (int i = 0; i < many; i++) {
        fds.push_back(hold(open(path.c_str(), O_RDONLY)));
        lseek(fds.back(), i % 10, SEEK_SET);
    }
    ASSERT_EQ(save(), 0) << failure.text;
    const int kept = open(path.c_str(), O_RDONLY);
    in_child([&] {
        for (int i = 0; i < many; i++) {
            char c;
            REQUIRE(read(fds[i], &c, 1) == 1 && c == '0' + i % 10);
        }
        REQUIRE(fcntl(kept, F_GETFD) < 0);
        REQUIRE(restore(&fds[0], 1) == -EEXIST);
        REQUIRE(fcntl(fds[0], F_GETFD) == 0);
    });
    close(kept);
}

} // namespace
