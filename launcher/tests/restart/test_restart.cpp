/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_restart.cpp - a process that the image writer saved is restored by ckpt-restart: the whole
 * path, without MPI and without an agent.
 */
#include "config.h"

#include "image/store/manifest.hpp"
#include "image/nodefile/message_log.hpp"
#include "image/write/node_file_writer.hpp"
#include "image/memory/remote_memory.hpp"
#include "tests/common/logged_messages.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace
{

namespace fs = std::filesystem;

/* A running program, and its output. */
struct Child {
    pid_t pid = -1;
    int output = -1;
};

struct Ending {
    int status = 0;
    std::string output;
};

class Restart : public testing::Test
{
  protected:
    void SetUp() override
    {
        char name[] = "/tmp/ckpt-test-XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        directory = name;
        checkpoint = directory / "checkpoint";
        fs::create_directory(checkpoint);
        fs::create_directory(directory / "work");
        data = directory / "data";
        std::ofstream(data) << std::string(4096, 'a') << std::string(4096, 'b')
                            << std::string(8192, 'c');
    }

    void TearDown() override
    {
        for (pid_t pid : alive) {
            kill(pid, SIGKILL);
            waitpid(pid, nullptr, 0);
        }
        fs::remove_all(directory);
    }

    Child start(std::vector<std::string> words,
                const std::vector<std::string> &environment = {})
    {
        Child child;
        int ends[2];
        EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
        words[0] = fs::absolute(words[0]);
        child.pid = fork();
        if (child.pid == 0) {
            std::vector<char *> arguments;
            for (std::string &word : words) {
                arguments.push_back(word.data());
            }
            arguments.push_back(nullptr);
            for (const std::string &entry : environment) {
                putenv(const_cast<char *>(entry.c_str()));
            }
            dup2(ends[1], 1);
            dup2(ends[1], 2);
            if (chdir((directory / "work").c_str()) != 0 && chdir("/") != 0) {
                _exit(125);
            }
            alarm(60);
            execv(arguments[0], arguments.data());
            _exit(126);
        }
        close(ends[1]);
        child.output = ends[0];
        alive.push_back(child.pid);
        return child;
    }

    Ending finish(const Child &child)
    {
        Ending ending;
        char buffer[4096];
        for (ssize_t size;
             (size = read(child.output, buffer, sizeof(buffer))) > 0;) {
            ending.output.append(buffer, static_cast<std::size_t>(size));
        }
        close(child.output);
        EXPECT_EQ(waitpid(child.pid, &ending.status, 0), child.pid);
        std::erase(alive, child.pid);
        return ending;
    }

    Child start_subject(int rounds)
    {
        return start({"../libckpt/restore_subject", directory / "address",
                      data, std::to_string(rounds), "stop"});
    }

    /* Returns the address of the snapshot of a child that stops; 0 if it ended. */
    std::uint64_t wait_for_stop(const Child &child)
    {
        siginfo_t state{};
        if (waitid(P_PID, static_cast<id_t>(child.pid), &state,
                   WSTOPPED | WEXITED | WNOWAIT) != 0 ||
            state.si_code != CLD_STOPPED) {
            Ending ending = finish(child);
            ADD_FAILURE() << "it ended with status " << ending.status << ": "
                          << ending.output;
            return 0;
        }
        std::uint64_t address = 0;
        std::ifstream(directory / "address") >> std::hex >> address;
        return address;
    }

    void save(const Child &child, std::uint64_t address)
    {
        ckpt::WriterOptions options;
        options.chunk_size = 1u << 16;
        ckpt::NodeFileWriter writer(checkpoint, "here", options);
        writer.survey({child.pid, address});
        writer.capture(child.pid, address);
        writer.add_message_log(0, ckpt::message_log_path(checkpoint, 0));
        ckpt::Manifest manifest;
        manifest.job = "test";
        manifest.number = 1;
        manifest.rank_count = 1;
        manifest.hosts = {"here"};
        manifest.codec = "none";
        manifest.launch.launcher = launcher;
        manifest.pieces = {writer.commit()};
        manifest.write(checkpoint);
    }

    /* Waits for the child to stop, saves it and kills it. */
    void save_and_kill(const Child &child)
    {
        std::uint64_t address = wait_for_stop(child);
        ASSERT_NE(address, 0u);
        save(child, address);
        kill(child.pid, SIGKILL);
        ASSERT_EQ(finish(child).status, SIGKILL);
    }

    Child restart(const std::vector<std::string> &environment = {})
    {
        return start({"./ckpt-restart", checkpoint}, environment);
    }

    void expect_refused(const Ending &ending,
                        const std::vector<std::string> &words)
    {
        EXPECT_EQ(ending.status, 1 << 8);
        for (const std::string &word : words) {
            EXPECT_NE(ending.output.find(word), std::string::npos)
                << "no '" << word << "' in: " << ending.output;
        }
    }

    fs::path directory;
    fs::path checkpoint;
    fs::path data;
    std::vector<std::string> launcher = {"mpirun"}; /* in the checkpoint */
    std::vector<pid_t> alive;
};

TEST_F(Restart, ThreeTimesInARow)
{
    Child child = start_subject(3);
    for (int i = 0; i < 3; i++) {
        ASSERT_NO_FATAL_FAILURE(save_and_kill(child)) << "round " << i;
        child = restart({"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=1"});
    }
    Ending ending = finish(child);
    EXPECT_EQ(ending.status, 0);
    EXPECT_EQ(ending.output, "survived 3\n");
}

/* restore_subject checks the content (libckpt/tests/raw_image.h). */
TEST_F(Restart, GivesTheMessageLogToTheProcess)
{
    std::string log;
    for (std::uint64_t i = 0; i < 300; i++) {
        log += ckpt::test::logged_message(
            i, std::string(i * 1000, static_cast<char>(i)));
    }
    Child child = start_subject(3);
    for (int i = 0; i < 3; i++) {
        fs::path path = ckpt::message_log_path(checkpoint, 0);
        fs::remove(path);
        if (i != 1) { /* the second time there is none */
            std::ofstream(path, std::ios::binary) << log;
        }
        ASSERT_NO_FATAL_FAILURE(save_and_kill(child)) << "round " << i;
        child = restart();
    }
    Ending ending = finish(child);
    EXPECT_EQ(ending.status, 0);
    EXPECT_EQ(ending.output, "survived 3\nlogged 600\n");
}

TEST_F(Restart, WithoutTheWorkingDirectory)
{
    save_and_kill(start_subject(1));
    fs::remove(directory / "work");
    Ending ending = finish(restart());
    EXPECT_EQ(ending.status, 0);
    EXPECT_NE(ending.output.find((directory / "work").string()),
              std::string::npos)
        << ending.output;
    EXPECT_NE(ending.output.find("survived 1\n"), std::string::npos)
        << ending.output;
}

TEST_F(Restart, WithoutALauncherItIsTheOnlyRank)
{
    launcher = {};
    Child child = start_subject(1);
    ASSERT_NO_FATAL_FAILURE(save_and_kill(child));
    Ending ending = finish(restart({"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2"}));
    EXPECT_EQ(ending.output, "survived 1\n");
}

TEST_F(Restart, RefusesAnotherNumberOfRanks)
{
    save_and_kill(start_subject(1));
    expect_refused(finish(restart({"OMPI_COMM_WORLD_RANK=0",
                                   "OMPI_COMM_WORLD_SIZE=2"})),
                   {"1 ranks", "2 were started"});
    expect_refused(finish(restart({"PMIX_RANK=3"})), {"but rank 3 was asked for"});
    expect_refused(finish(restart({"PMIX_RANK=x"})), {"PMIX_RANK=x"});
}

TEST_F(Restart, RefusesAMappedFileThatChanged)
{
    save_and_kill(start_subject(1));
    {
        std::fstream changed(data, std::ios::in | std::ios::out);
        changed.seekp(100);
        changed << "CHANGED";
    }
    expect_refused(finish(restart()), {data, "content"});
    fs::remove(data);
    expect_refused(finish(restart()), {data});
}

TEST_F(Restart, RefusesACpuThatLacksAFeature)
{
    Child child = start_subject(1);
    std::uint64_t address = wait_for_stop(child);
    ASSERT_NE(address, 0u);
    std::uint64_t word =
        address + offsetof(ckpt_snapshot, cpu_features) + 2 * sizeof(uint32_t);
    std::string path = "/proc/" + std::to_string(child.pid) + "/mem";
    int memory = open(path.c_str(), O_RDWR | O_CLOEXEC);
    std::uint32_t features = 0;
    ASSERT_EQ(pread(memory, &features, sizeof(features), off_t(word)),
              ssize_t(sizeof(features)));
    features |= 1u << 26; /* avx512pf: Knights Landing only */
    ASSERT_EQ(pwrite(memory, &features, sizeof(features), off_t(word)),
              ssize_t(sizeof(features)));
    close(memory);
    save(child, address);
    kill(child.pid, SIGKILL);
    finish(child);
    expect_refused(finish(restart()), {"CPU", "avx512pf"});
}

TEST_F(Restart, RefusesAnotherUsersCheckpoint)
{
    if (geteuid() != 0) {
        GTEST_SKIP() << "only root can give files away";
    }
    save_and_kill(start_subject(1));
    ASSERT_EQ(chown((checkpoint / "manifest.json").c_str(), 1, 1), 0);
    expect_refused(finish(restart()), {"manifest.json", "uid 1"});
    ASSERT_EQ(chown((checkpoint / "manifest.json").c_str(), 0, 0), 0);
    ASSERT_EQ(chown((checkpoint / "node-here.h5").c_str(), 1, 1), 0);
    expect_refused(finish(restart()), {"node-here.h5", "uid 1"});
}

TEST_F(Restart, RefusesNonsense)
{
    expect_refused(finish(restart()), {checkpoint});
    Ending ending = finish(start({"./ckpt-restart"}));
    EXPECT_EQ(ending.status, 2 << 8);
    EXPECT_NE(ending.output.find("usage:"), std::string::npos);
}

} // namespace
