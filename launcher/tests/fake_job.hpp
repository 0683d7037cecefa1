/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake_job.hpp - a job of fake ranks under a real agent, and a client for it.
 */
#pragma once

#include "agent/control.hpp"
#include "common/fd.hpp"
#include "tests/child_process.hpp"

#include <gtest/gtest.h>

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ckpt::test
{

using Variables = std::map<std::string, std::string>;

/* A program with pipes to its standard input and output. */
class Program
{
  public:
    /* `variables` are added to the environment. */
    Program(const std::vector<std::string> &command, const Variables &variables);
    ~Program(); /* ends it by closing its input, and waits */

    pid_t pid() const { return pid_; }
    void write_line(const std::string &line);
    void close_input() { input_.reset(); }
    /* The next line of its output that starts with `prefix`; fails the test if
     * there is none within ten seconds. */
    std::string line(const std::string &prefix);
    /* Waits for its end; what waitpid says. */
    int wait();

  private:
    pid_t pid_ = -1;
    Fd input_, output_;
    std::string buffer_;
};

/* One command's connection to an agent. */
class Client
{
  public:
    /* Connects and sends; waits for the agent to listen. */
    Client(const std::filesystem::path &socket, const control::Request &request);
    /* Nothing at the end of the connection. */
    std::optional<control::Reply> next();
    /* The reply that is no progress; an "error" of the agent's death. */
    control::Reply last();

  private:
    Fd socket_;
    std::string buffer_;
};

class FakeJob
{
  public:
    FakeJob();
    ~FakeJob();

    /* Settings of the agents to be started: call before start(). */
    void set(const std::string &name, const std::string &value);
    /* Starts ranks [0, count) of `of` (0: of count) on one node. */
    void start(int count, int of = 0, int mebibytes = 1,
               const std::vector<std::string> &refusals = {});
    /* Ranks spread over two nodes with an agent each. */
    void start_on_two_nodes(int count);

    Program &rank(int rank) { return *ranks_.at(rank); }
    int count() const { return static_cast<int>(ranks_.size()); }
    std::string directory() const { return scratch_ / "ckpt"; }
    std::filesystem::path run_directory(int node = 0) const;
    std::filesystem::path control_socket(int node = 0) const;

    control::Reply ask(const std::string &command, const std::string &then = "");
    /* Makes a checkpoint. A failure has the agent's reason. */
    testing::AssertionResult saves();
    /* Waits until the agent says that the job is in this phase. */
    control::Status await_phase(const std::string &phase);
    /* Ends all ranks; waits until the agent of the node is gone too. */
    void end();

  private:
    pid_t agent_of(int node) const;
    void start_rank(int rank, int count, int node, int mebibytes,
                    const std::string &refusal);

    ScratchDirectory scratch_;
    Variables variables_;
    std::string namespace_;
    std::string coordinator_;
    std::vector<std::unique_ptr<Program>> ranks_;
};

} // namespace ckpt::test
