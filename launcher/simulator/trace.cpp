/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace.cpp - reads a recorded run as a program (docs/simulator.md).
 */
#include "config.h"
#include "simulator/program.hpp"

#include "common/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace ckpt::simulator
{

namespace
{

using Json = nlohmann::json;
using Kind = Operation::Kind;

class Trace : public Program
{
  public:
    explicit Trace(std::vector<std::vector<Operation>> operations)
        : operations_(std::move(operations)), done_(operations_.size())
    {
    }

    std::string name() const override
    {
        return "trace";
    }

    Operation next(Rank rank) override
    {
        const auto &own = operations_[rank];
        return done_[rank] < own.size() ? own[done_[rank]++]
                                        : Operation{Kind::end};
    }

  private:
    std::vector<std::vector<Operation>> operations_; /* by rank */
    std::vector<std::size_t> done_;
};

class Reader
{
  public:
    std::unique_ptr<Program> read(std::istream &lines, JobModel &job)
    {
        std::string line;
        while (std::getline(lines, line)) {
            number_++;
            try {
                add(Json::parse(line));
            } catch (const Json::exception &error) {
                fail("line {} of the trace: {}", number_, error.what());
            }
        }
        if (operations_.empty()) {
            fail("the trace does not say how many ranks there are");
        }
        check_receives();
        job.ranks = static_cast<Rank>(operations_.size());
        return std::make_unique<Trace>(std::move(operations_));
    }

  private:
    void add(const Json &line)
    {
        if (operations_.empty()) {
            const auto ranks = line.at("ranks").get<Rank>();
            operations_.resize(ranks);
            times_.resize(ranks);
            return;
        }
        const Rank rank = peer(line, "rank");
        const auto end = line.at("time").get<Seconds>();
        const bool waits = !line.contains("send");
        const Seconds begin = line.value("begin", waits ? times_[rank] : end);
        if (begin < times_[rank] || end < begin) {
            fail("line {} of the trace: rank {} goes back in time", number_,
                 rank);
        }
        operations_[rank].push_back(
            {Kind::compute, 0, 0, begin - times_[rank]});
        operations_[rank].push_back(operation(line, rank));
        times_[rank] = end;
    }

    Operation operation(const Json &line, Rank rank)
    {
        if (line.contains("send")) {
            const Rank to = peer(line, "send");
            balance_[{rank, to}]++;
            return {Kind::send, to, line.value("bytes", std::uint64_t{0})};
        }
        if (line.contains("receive")) {
            const Rank from = peer(line, "receive");
            balance_[{from, rank}]--;
            const bool any = line.value("any", false);
            return {any ? Kind::receive_any : Kind::receive, from};
        }
        if (line.contains("collective")) {
            return {Kind::collective};
        }
        fail("line {} of the trace: neither send, receive nor collective",
             number_);
    }

    Rank peer(const Json &line, const char *key) const
    {
        const auto rank = line.at(key).get<std::uint64_t>();
        if (rank >= operations_.size()) {
            fail("line {} of the trace: unknown rank {}", number_, rank);
        }
        return static_cast<Rank>(rank);
    }

    void check_receives() const
    {
        for (const auto &[channel, count] : balance_) {
            if (count < 0) {
                fail("the trace: rank {} receives more from rank {} than that "
                     "has sent",
                     channel.second, channel.first);
            }
        }
    }

    std::size_t number_ = 0; /* of the current line */
    std::vector<std::vector<Operation>> operations_;
    std::vector<Seconds> times_; /* of the last operation, by rank */
    std::map<std::pair<Rank, Rank>, std::int64_t>
        balance_; /* messages sent but not received */
};

} // namespace

std::unique_ptr<Program> read_trace(std::istream &lines, JobModel &job)
{
    return Reader().read(lines, job);
}

} // namespace ckpt::simulator
