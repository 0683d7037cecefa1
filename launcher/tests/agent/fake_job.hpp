/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake_job.hpp - a client, and a job of fake ranks under a real agent.
 */
#pragma once

#include "agent/control/control.hpp"
#include "common/fd.hpp"
#include "tests/common/child_process.hpp"

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
    ~Program(); /* closes its input and waits for its end */

    pid_t pid() const { return pid_; }
    void write_line(const std::string &line);
    void close_input() { input_.reset(); }
    /* Returns the next line of its output that starts with `prefix`; fails the test if no such line
     * comes within ten seconds. */
    std::string line(const std::string &prefix);
    /* Waits for its end; returns the status of waitpid(). */
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
    /* Waits for the agent to listen, connects and sends the request. */
    Client(const std::filesystem::path &socket, const control::Request &request);
    /* Returns the next reply; nothing at the end of the connection. */
    std::optional<control::Reply> next();
    /* Returns the final reply, after all progress; an "error" if the agent dies. */
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

    /* Sets a variable of the agents; call it before start(). */
    void set(const std::string &name, const std::string &value);
    /* Starts ranks [0, count) of a job of `of` ranks (0: of count) on one node. */
    void start(int count, int of = 0, int mebibytes = 1,
               const std::vector<std::string> &refusals = {});
    /* Starts ranks on two nodes with an agent each. */
    void start_on_two_nodes(int count);

    Program &rank(int rank) { return *ranks_.at(rank); }
    int count() const { return static_cast<int>(ranks_.size()); }
    std::string directory() const { return scratch_ / "ckpt"; }
    std::filesystem::path run_directory(int node = 0) const;
    std::filesystem::path control_socket(int node = 0) const;

    control::Reply ask(const std::string &command, const std::string &then = "");
    /* Takes a checkpoint. A failure has the agent's reason. */
    testing::AssertionResult saves();
    /* Waits until the agent reports this phase of the job. */
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
