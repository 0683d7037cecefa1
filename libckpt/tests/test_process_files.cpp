/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files below /proc/PID of this process, its threads, and other processes.
 */
#include "files_fixture.hpp"

extern "C" {
#include "ckpt/snapshot.h"
}

#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <thread>

namespace
{

std::string task_file(pid_t thread, const char *name)
{
    return "/proc/self/task/" + std::to_string(thread) + name;
}

/* Returns the number in "PID (NAME) ...", or -1. */
long first_number_of(int fd)
{
    char text[64] = "";

    return pread(fd, text, sizeof text - 1, 0) > 0 ? std::atol(text) : -1;
}

/* Whether the file's process is gone. */
int is_gone(int fd)
{
    char text[64];

    return pread(fd, text, sizeof text, 0) < 0 && errno == ESRCH;
}

/* Another thread, until the end of the test. */
class OtherThread
{
  public:
    OtherThread()
    {
        sem_init(&known_, 0, 0);
        sem_init(&end_, 0, 0);
        thread_ = std::thread([this] {
            id_ = pid_t(syscall(SYS_gettid));
            sem_post(&known_);
            sem_wait(&end_);
        });
        sem_wait(&known_);
    }
    ~OtherThread()
    {
        end();
    }
    void end()
    {
        if (thread_.joinable()) {
            sem_post(&end_);
            thread_.join();
        }
    }
    pid_t id() const
    {
        return id_;
    }

  private:
    sem_t known_, end_;
    std::thread thread_;
    pid_t id_ = 0;
};

} // namespace

TEST_F(Files, OwnProcess)
{
    int status = hold(open("/proc/self/status", O_RDONLY));
    int memory = hold(open("/proc/self/mem", O_RDWR));
    int name = hold(open("/proc/self/comm", O_RDWR));
    int itself = hold(open("/proc/self", O_RDONLY | O_DIRECTORY));
    int tasks = hold(open("/proc/self/task", O_RDONLY | O_DIRECTORY));
    int space = hold(open("/proc/self/ns/mnt", O_RDONLY));
    static volatile int value = 1234;

    ASSERT_EQ(save(), 0) << failure.text;
    EXPECT_STREQ(arena.strings + file(status).path, "/proc/self/status");
    EXPECT_STREQ(arena.strings + file(itself).path, "/proc/self");
    EXPECT_STREQ(arena.strings + file(space).path, "/proc/self/ns/mnt");
    EXPECT_EQ(file(tasks).kind, unsigned(CKPT_FILE_PROCESS));
    in_child([&] {
        const std::string pid = std::to_string(getpid());
        char text[4096] = "";
        int copy = 0, stat;

        REQUIRE(read(status, text, sizeof text - 1) > 0);
        REQUIRE(std::strstr(text, ("\nPid:\t" + pid + "\n").c_str()) != nullptr);
        value = 4321;
        REQUIRE(pread(memory, &copy, sizeof copy, off_t(&value)) == sizeof copy);
        REQUIRE(copy == 4321);
        REQUIRE(write(name, "renamed", 7) == 7);
        stat = openat(itself, "stat", O_RDONLY);
        REQUIRE(stat >= 0 && first_number_of(stat) == getpid());
        stat = openat(tasks, (pid + "/stat").c_str(), O_RDONLY);
        REQUIRE(stat >= 0 && first_number_of(stat) == getpid());
        REQUIRE(readlink(("/proc/self/fd/" + std::to_string(space)).c_str(), text,
                         sizeof text) > 4);
        REQUIRE(std::strncmp(text, "mnt:", 4) == 0);
    });
}

TEST_F(Files, PositionInAFileOfTheProcess)
{
    int fd = hold(open("/proc/self/comm", O_RDONLY));
    char letter, after, expected;

    ASSERT_EQ(pread(fd, &expected, 1, 1), 1);
    ASSERT_EQ(read(fd, &letter, 1), 1);
    ASSERT_EQ(save(), 0) << failure.text;
    in_child([&] { REQUIRE(read(fd, &after, 1) == 1 && after == expected); });
}

/* The restart program does not have the threads: their files are placeholders at first. */
TEST_F(Files, ThreadsAreOpenedLate)
{
    OtherThread other;
    int first = hold(open(task_file(getpid(), "/stat").c_str(), O_RDONLY));
    int second = hold(open(task_file(other.id(), "/stat").c_str(), O_RDONLY));
    int directory = hold(open(task_file(other.id(), "").c_str(), O_RDONLY));
    int twin = hold(dup(second));

    ASSERT_EQ(save(), 0) << failure.text;
    for (int fd : {first, second, directory}) {
        EXPECT_EQ(file(fd).kind, unsigned(CKPT_FILE_PROCESS));
        EXPECT_NE(file(fd).value & CKPT_PROCESS_FILE_LATE, 0u);
    }
    EXPECT_EQ(file(twin).same_as, second);
    EXPECT_EQ(arena.strings + file(second).path, task_file(other.id(), "/stat"));
    in_child([&] {
        REQUIRE(is_gone(first) && is_gone(second) && is_gone(twin));
        REQUIRE(openat(directory, "stat", O_RDONLY) < 0);
        /* No thread has been recreated. */
        REQUIRE(ckpt_files_open_late(&failure) == 0 && is_gone(second));
    });
}

TEST_F(Files, DescriptionOfADescriptorIsOpenedLate)
{
    int fd = hold(open(path.c_str(), O_RDONLY));
    int info = hold(
        open(("/proc/self/fdinfo/" + std::to_string(fd)).c_str(), O_RDONLY));

    ASSERT_EQ(lseek(fd, 5, SEEK_SET), 5);
    ASSERT_EQ(save(), 0) << failure.text;
    in_child([&] {
        char text[64] = "";

        REQUIRE(ckpt_files_open_late(&failure) == 0);
        REQUIRE(read(info, text, sizeof text - 1) > 0);
        REQUIRE(std::strncmp(text, "pos:\t5\n", 7) == 0);
    });
}

TEST_F(Files, WhatHasEndedStaysSo)
{
    OtherThread other;
    int of_thread = hold(open(task_file(other.id(), "/stat").c_str(), O_RDONLY));
    const pid_t child = fork();
    int status = 0;

    if (child == 0) {
        pause();
        _exit(0);
    }
    int of_child = hold(
        open(("/proc/" + std::to_string(child) + "/stat").c_str(), O_RDONLY));
    expect_refused(of_child, "another process");
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, &status, 0), child);
    other.end();
    /* join() returns before the kernel's thread is gone. */
    while (!is_gone(of_thread)) {
        std::this_thread::yield();
    }
    ASSERT_EQ(save(), 0) << failure.text;
    EXPECT_NE(file(of_thread).value & CKPT_PROCESS_FILE_GONE, 0u);
    in_child([&] { REQUIRE(is_gone(of_thread) && is_gone(of_child)); });
}
