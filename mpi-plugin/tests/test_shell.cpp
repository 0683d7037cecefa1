// SPDX-License-Identifier: BSD-3-Clause
/*
 * test_shell.cpp - ckpt-shell as a rank leaves it: what it says, keeps and gives up, and what ends
 * it. The rank is played by a child process that executes it.
 */
extern "C" {
#include "ckpt/messages.h"
#include "link/shell_program.h"
}

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace
{

namespace fs = std::filesystem;

constexpr std::uint64_t rank_number = 12;
constexpr std::uint64_t epoch_number = 34;
constexpr int timeout_ms = 60000;
constexpr int kept = 77; // descriptor of the launcher

// A process that only waits, until it is ended.
class Bystander
{
  public:
    Bystander()
        : pid_(fork())
    {
        if (pid_ == 0) {
            pause();
            _exit(0);
        }
    }
    ~Bystander() { end(); }
    Bystander(const Bystander &) = delete;
    Bystander &operator=(const Bystander &) = delete;

    void end()
    {
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
            pid_ = 0;
        }
    }
    [[nodiscard]] int pid() const { return pid_; }

  private:
    int pid_;
};

class Shell : public testing::Test
{
  protected:
    void SetUp() override
    {
        char name[] = "/tmp/test-shell-XXXXXX";

        ASSERT_NE(mkdtemp(name), nullptr);
        directory = name;
        socket_path = (directory / "agent.sock").string();
    }

    void TearDown() override
    {
        if (process > 0) {
            kill(process, SIGKILL);
            waitpid(process, nullptr, 0);
        }
        close_agent();
        fs::remove_all(directory);
    }

    // Starts the shell; `before` runs in the process that becomes it.
    void start(const std::function<void()> &before = [] {})
    {
        int ends[2];

        ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
        process = fork();
        if (process == 0) {
            before();
            execute(ends[1]);
        }
        close(ends[1]);
        agent = ends[0];
    }

    [[noreturn]] void execute(int connection) const
    {
        sigset_t all;
        const std::vector<std::string> words = {
            CKPT_SHELL_PROGRAM, std::to_string(rank_number), std::to_string(epoch_number),
            std::to_string(successor.pid()), socket_path, std::to_string(connection),
            std::to_string(kept)};
        std::vector<char *> arguments;

        for (const std::string &word : words) {
            arguments.push_back(const_cast<char *>(word.c_str()));
        }
        arguments.push_back(nullptr);
        sigfillset(&all);
        sigprocmask(SIG_SETMASK, &all, nullptr);
        fcntl(connection, F_SETFD, 0);
        dup2(STDIN_FILENO, kept);
        execv("./ckpt-shell", arguments.data());
        _exit(99);
    }

    void close_agent()
    {
        if (agent >= 0) {
            close(agent);
        }
        agent = -1;
    }

    // The next message, which must be valid.
    [[nodiscard]] ckpt_message receive() const
    {
        ckpt_message message{};
        const char *wrong = nullptr;
        pollfd entry = {agent, POLLIN, 0};

        EXPECT_EQ(poll(&entry, 1, timeout_ms), 1);
        const ssize_t size = recv(agent, &message, sizeof message, 0);
        EXPECT_GT(size, 0);
        if (size > 0) {
            EXPECT_EQ(ckpt_message_decode(&message, static_cast<std::size_t>(size),
                                          CKPT_FROM_RANK, &wrong),
                      0)
                << wrong;
        }
        return message;
    }

    void tell(std::uint32_t type, const ckpt_message_body &body = {}) const
    {
        ckpt_message message{};
        const char *wrong = nullptr;

        message.type = type;
        message.epoch = epoch_number + 1;
        message.as = body;
        ASSERT_EQ(ckpt_message_encode(&message, CKPT_FROM_AGENT, &wrong), 0) << wrong;
        ASSERT_EQ(send(agent, &message, sizeof message, MSG_NOSIGNAL),
                  static_cast<ssize_t>(sizeof message));
    }

    // Names another successor.
    void follow(int pid) const
    {
        tell(CKPT_MSG_BECOME_SHELL, {.become_shell = {static_cast<std::uint64_t>(pid)}});
    }

    // Waits for the end of the shell; returns its status.
    int status()
    {
        int result = -1;

        EXPECT_EQ(waitpid(process, &result, 0), process);
        process = 0;
        return result;
    }

    int exit_code()
    {
        const int result = status();

        EXPECT_TRUE(WIFEXITED(result)) << result;
        return WEXITSTATUS(result);
    }

    [[nodiscard]] std::vector<int> descriptors() const
    {
        std::vector<int> found;

        for (const auto &entry :
             fs::directory_iterator("/proc/" + std::to_string(process) + "/fd")) {
            found.push_back(std::stoi(entry.path().filename()));
        }
        return found;
    }

    // Listens as the next agent, and accepts the shell.
    void accept_shell()
    {
        sockaddr_un address{};
        const int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        pollfd entry = {listener, POLLIN, 0};

        address.sun_family = AF_UNIX;
        socket_path.copy(address.sun_path, sizeof address.sun_path - 1);
        ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof address), 0);
        ASSERT_EQ(listen(listener, 1), 0);
        ASSERT_EQ(poll(&entry, 1, timeout_ms), 1);
        agent = accept(listener, nullptr, nullptr);
        ASSERT_GE(agent, 0);
        close(listener);
        fs::remove(socket_path);
    }

    fs::path directory;
    std::string socket_path;
    Bystander successor;
    int process = 0;
    int agent = -1;
};

TEST_F(Shell, SaysWhoItIsAndEndsAsItIsTold)
{
    start();
    const ckpt_message message = receive();
    EXPECT_EQ(message.type, static_cast<std::uint32_t>(CKPT_MSG_SHELL));
    EXPECT_EQ(message.epoch, epoch_number);
    EXPECT_EQ(message.as.shell.rank, rank_number);
    EXPECT_EQ(message.as.shell.pid, static_cast<std::uint64_t>(process));
    EXPECT_GT(message.as.shell.resident, 0u);
    EXPECT_LT(message.as.shell.resident, 1u << 20);
    tell(CKPT_MSG_END_SHELL, {.end_shell = {213}});
    EXPECT_EQ(exit_code(), 213);
}

TEST_F(Shell, KeepsOnlyTheDescriptorsThatItIsGiven)
{
    start([] {
        for (const int fd : {5, 50, kept - 1, kept + 1, 500}) {
            ASSERT_EQ(dup2(STDIN_FILENO, fd), fd);
        }
    });
    EXPECT_EQ(receive().type, static_cast<std::uint32_t>(CKPT_MSG_SHELL));
    // 0 to 2, the agent's, the launcher's, the two processes that it watches, and the signals
    const std::vector<int> left = descriptors();
    EXPECT_EQ(left.size(), 8u);
    EXPECT_EQ(std::count(left.begin(), left.end(), kept), 1);
    for (const int fd : {50, kept - 1, kept + 1, 500}) {
        EXPECT_EQ(std::count(left.begin(), left.end(), fd), 0) << fd;
    }
}

TEST_F(Shell, StopsTimersAndIgnoresWhatIsNotItsEnd)
{
    start([] {
        const itimerval soon = {{0, 1000}, {0, 1000}};
        ASSERT_EQ(setitimer(ITIMER_REAL, &soon, nullptr), 0);
    });
    EXPECT_EQ(receive().type, static_cast<std::uint32_t>(CKPT_MSG_SHELL));
    for (const int number : {SIGUSR1, SIGUSR2, SIGALRM, SIGCHLD, SIGTSTP, SIGPIPE}) {
        ASSERT_EQ(kill(process, number), 0);
    }
    tell(CKPT_MSG_STOP);
    follow(getpid());
    EXPECT_EQ(receive().epoch, epoch_number + 1);
    tell(CKPT_MSG_END_SHELL, {.end_shell = {0}});
    EXPECT_EQ(exit_code(), 0);
}

TEST_F(Shell, EndsBySignalsOfALauncher)
{
    for (const int number : {SIGTERM, SIGINT, SIGQUIT, SIGHUP}) {
        /* nohup, and shells for what runs in the background, ignore some of them */
        start([number] { (void)signal(number, SIG_DFL); });
        EXPECT_EQ(receive().type, static_cast<std::uint32_t>(CKPT_MSG_SHELL));
        ASSERT_EQ(kill(process, number), 0);
        const int result = status();
        EXPECT_TRUE(WIFSIGNALED(result) && WTERMSIG(result) == number) << number;
        close_agent();
    }
}

TEST_F(Shell, KeepsIgnoringSIGHUPButNotSIGTERM)
{
    start([] {
        (void)signal(SIGHUP, SIG_IGN);
        (void)signal(SIGTERM, SIG_IGN);
    });
    EXPECT_EQ(receive().type, static_cast<std::uint32_t>(CKPT_MSG_SHELL));
    ASSERT_EQ(kill(process, SIGHUP), 0);
    follow(getpid());
    EXPECT_EQ(receive().type, static_cast<std::uint32_t>(CKPT_MSG_SHELL));
    ASSERT_EQ(kill(process, SIGTERM), 0);
    const int result = status();
    EXPECT_TRUE(WIFSIGNALED(result) && WTERMSIG(result) == SIGTERM);
}

TEST_F(Shell, FindsAnotherAgent)
{
    start();
    EXPECT_EQ(receive().epoch, epoch_number);
    close_agent();
    accept_shell();
    const ckpt_message message = receive();
    EXPECT_EQ(message.type, static_cast<std::uint32_t>(CKPT_MSG_SHELL));
    EXPECT_EQ(message.epoch, 0u);
    EXPECT_EQ(message.as.shell.rank, rank_number);
    tell(CKPT_MSG_END_SHELL, {.end_shell = {5}});
    EXPECT_EQ(exit_code(), 5);
}

TEST_F(Shell, LeavesAnAgentThatSaysNonsense)
{
    start();
    EXPECT_EQ(receive().epoch, epoch_number);
    ASSERT_EQ(send(agent, "nonsense", 8, MSG_NOSIGNAL), 8);
    pollfd entry = {agent, POLLIN, 0};
    EXPECT_EQ(poll(&entry, 1, timeout_ms), 1);
    EXPECT_NE(entry.revents & POLLHUP, 0);
    close_agent();
    accept_shell();
    EXPECT_EQ(receive().epoch, 0u);
}

TEST_F(Shell, WaitsForItsAgentAlsoIfTheSuccessorHasEnded)
{
    start();
    EXPECT_EQ(receive().epoch, epoch_number);
    successor.end();
    follow(getpid());
    EXPECT_EQ(receive().epoch, epoch_number + 1);
    tell(CKPT_MSG_END_SHELL, {.end_shell = {0}});
    EXPECT_EQ(exit_code(), 0);
}

TEST_F(Shell, EndsWithoutAgentAndSuccessor)
{
    start();
    EXPECT_EQ(receive().epoch, epoch_number);
    successor.end();
    close_agent();
    EXPECT_EQ(exit_code(), 1);
}

TEST_F(Shell, EndsWithTheProcessThatWaitsForIt)
{
    int ends[2];

    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    const int launcher = fork();
    if (launcher == 0) {
        if (fork() == 0) {
            execute(ends[1]);
        }
        pause();
        _exit(0);
    }
    close(ends[1]);
    agent = ends[0];
    EXPECT_EQ(receive().type, static_cast<std::uint32_t>(CKPT_MSG_SHELL));
    kill(launcher, SIGKILL);
    waitpid(launcher, nullptr, 0);
    pollfd entry = {agent, POLLIN, 0};
    EXPECT_EQ(poll(&entry, 1, timeout_ms), 1);
    char byte;
    EXPECT_EQ(recv(agent, &byte, 1, 0), 0);
}

TEST_F(Shell, DoesNotBeginWithWrongArguments)
{
    const int child = fork();
    int result = -1;

    if (child == 0) {
        execl("./ckpt-shell", "ckpt-shell", "1", "2", nullptr);
        _exit(99);
    }
    ASSERT_EQ(waitpid(child, &result, 0), child);
    EXPECT_TRUE(WIFEXITED(result) && WEXITSTATUS(result) == 2) << result;
}

} // namespace
