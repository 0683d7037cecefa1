/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake_job.cpp - a client, and a job of fake ranks under a real agent.
 */
#include "config.h"
#include "common/pidfd.hpp"
#include "tests/agent/fake_job.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>

namespace ckpt::test
{

namespace
{

constexpr int timeout_ms = 30000;

using std::chrono::steady_clock;

/* Cuts off and returns the first line; nothing if no line is complete yet. */
std::optional<std::string> cut_line(std::string &buffer)
{
    std::size_t end = buffer.find('\n');
    if (end == std::string::npos) {
        return {};
    }
    std::string line = buffer.substr(0, end);
    buffer.erase(0, end + 1);
    return line;
}

/* Returns false at the end of input, or if nothing arrives in time. */
bool read_more(int fd, std::string &buffer)
{
    char bytes[4096];
    pollfd ready = {fd, POLLIN, 0};
    if (poll(&ready, 1, timeout_ms) != 1) {
        ADD_FAILURE() << "nothing to read";
        return false;
    }
    ssize_t size = read(fd, bytes, sizeof bytes);
    if (size > 0) {
        buffer.append(bytes, static_cast<std::size_t>(size));
    }
    return size > 0;
}

} // namespace

/* ---- Program ----------------------------------------------------------------- */

Program::Program(const std::vector<std::string> &command,
                 const Variables &variables)
{
    int in[2], out[2];
    std::vector<std::string> environment;
    std::vector<char *> arguments, entries;
    posix_spawn_file_actions_t actions;

    for (char **entry = environ; *entry != nullptr; entry++) {
        std::string name(*entry, strcspn(*entry, "="));
        if (variables.count(name) == 0 && !name.starts_with("CKPT_")) {
            environment.push_back(*entry);
        }
    }
    for (auto &[name, value] : variables) {
        environment.push_back(name + "=" + value);
    }
    for (std::string &entry : environment) {
        entries.push_back(entry.data());
    }
    for (const std::string &word : command) {
        arguments.push_back(const_cast<char *>(word.c_str()));
    }
    entries.push_back(nullptr);
    arguments.push_back(nullptr);
    EXPECT_EQ(pipe2(in, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(out, O_CLOEXEC), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    EXPECT_EQ(posix_spawn(&pid_, arguments[0], &actions, nullptr,
                          arguments.data(), entries.data()),
              0)
        << command[0];
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    input_.reset(in[1]);
    output_.reset(out[0]);
}

Program::~Program()
{
    close_input();
    wait();
}

void Program::write_line(const std::string &line)
{
    std::string text = line + "\n";
    EXPECT_EQ(write(input_.get(), text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
}

std::string Program::line(const std::string &prefix)
{
    do {
        while (auto line = cut_line(buffer_)) {
            if (line->starts_with(prefix)) {
                return *line;
            }
        }
    } while (read_more(output_.get(), buffer_));
    ADD_FAILURE() << "no line '" << prefix << "' from process " << pid_;
    return {};
}

int Program::wait()
{
    int status = 0;

    if (pid_ > 0) {
        waitpid(pid_, &status, 0);
        pid_ = -1;
    }
    return status;
}

/* ---- Client ------------------------------------------------------------------ */

Client::Client(const std::filesystem::path &path,
               const control::Request &request)
{
    sockaddr_un address{};
    std::string line = control::encode_line(request);

    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path.c_str());
    socket_.reset(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(socket_.get(), reinterpret_cast<sockaddr *>(&address),
                      sizeof address),
              0)
        << path;
    EXPECT_EQ(send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(line.size()));
}

std::optional<control::Reply> Client::next()
{
    do {
        if (auto line = cut_line(buffer_)) {
            control::Reply reply;
            std::string error;
            EXPECT_TRUE(control::decode_reply(*line, reply, error)) << error;
            return reply;
        }
    } while (read_more(socket_.get(), buffer_));
    return {};
}

control::Reply Client::last()
{
    while (auto reply = next()) {
        if (reply->event != "progress") {
            return *reply;
        }
    }
    control::Reply dead;
    dead.event = "error";
    dead.error = "the agent has died";
    return dead;
}

/* ---- The job ------------------------------------------------------------------- */

FakeJob::FakeJob()
    : namespace_(fmt::format("fake-{}-{}", getpid(),
                             steady_clock::now().time_since_epoch().count()))
{
    variables_["CKPT_DIR"] = directory();
    variables_["CKPT_NAME"] = "fake";
    variables_["OMPI_COMM_WORLD_LOCAL_SIZE"] = "";
}

FakeJob::~FakeJob()
{
    end();
}

void FakeJob::set(const std::string &name, const std::string &value)
{
    variables_[name] = value;
}

std::filesystem::path FakeJob::run_directory(int node) const
{
    return scratch_ / fmt::format("run{}", node);
}

std::filesystem::path FakeJob::control_socket(int node) const
{
    return run_directory(node) / (control::namespace_hash(namespace_) + ".ctl");
}

void FakeJob::start_rank(int rank, int count, int node, int mebibytes,
                         const std::string &refusal)
{
    Variables variables = variables_;

    variables["CKPT_RUN_DIR"] = run_directory(node);
    ranks_.push_back(std::make_unique<Program>(
        std::vector<std::string>{"tests/fake_rank", std::to_string(rank),
                                 std::to_string(count), namespace_, "./ckptd",
                                 coordinator_, std::to_string(mebibytes),
                                 refusal},
        variables));
    std::string address = ranks_.back()->line("address ");
    if (coordinator_.empty() && address.size() > 8) {
        coordinator_ = address.substr(8);
    }
}

void FakeJob::start(int count, int of, int mebibytes,
                    const std::vector<std::string> &refusals)
{
    int all = of == 0 ? count : of;

    variables_["OMPI_COMM_WORLD_LOCAL_SIZE"] = std::to_string(all);
    for (int rank = 0; rank < count; rank++) {
        std::string refusal =
            rank < static_cast<int>(refusals.size()) ? refusals[rank] : "";
        start_rank(rank, all, 0, mebibytes, refusal);
    }
}

void FakeJob::start_on_two_nodes(int count)
{
    for (int rank = 0; rank < count; rank++) {
        int node = rank % 2;
        set("CKPT_HOST", fmt::format("node{}", node));
        start_rank(rank, count, node, 1, "");
    }
}

control::Reply FakeJob::ask(const std::string &command, const std::string &then)
{
    control::Request request;

    request.command = command;
    request.then = then;
    return Client(control_socket(), request).last();
}

testing::AssertionResult FakeJob::saves()
{
    const control::Reply reply = ask("checkpoint");

    return reply.event == "result" ? testing::AssertionSuccess()
                                   : testing::AssertionFailure() << reply.error;
}

control::Status FakeJob::await_phase(const std::string &phase)
{
    auto until = steady_clock::now() + std::chrono::milliseconds(timeout_ms);
    control::Status status;

    do {
        status = ask("status").status;
        if (status.phase == phase) {
            return status;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    } while (steady_clock::now() < until);
    ADD_FAILURE() << "the job is " << status.phase << ", not " << phase;
    return status;
}

/* Returns the agent's process id; 0 if no agent listens (any more). */
pid_t FakeJob::agent_of(int node) const
{
    sockaddr_un address{};
    ucred peer{};
    socklen_t size = sizeof peer;
    Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));

    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, control_socket(node).c_str());
    if (connect(socket.get(), reinterpret_cast<sockaddr *>(&address),
                sizeof address) < 0 ||
        getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) {
        return 0;
    }
    return peer.pid;
}

void FakeJob::end()
{
    if (ranks_.empty()) {
        return;
    }
    std::vector<Fd> agents;
    for (int node = 0; node < 2; node++) {
        if (pid_t pid = agent_of(node)) {
            agents.push_back(open_pidfd(pid));
        }
    }
    for (auto &rank : ranks_) {
        rank->close_input();
    }
    ranks_.clear();
    for (const Fd &agent : agents) {
        if (!agent) {
            continue; /* its process has ended */
        }
        pollfd ended = {agent.get(), POLLIN, 0};
        EXPECT_EQ(poll(&ended, 1, timeout_ms), 1) << "the agent stays";
    }
}

} // namespace ckpt::test
