/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * patterns.cpp - synthetic programs that repeat one round.
 */
#include "config.h"
#include "simulator/program.hpp"

#include "common/error.hpp"

#include <algorithm>
#include <functional>
#include <map>

namespace ckpt::simulator
{

namespace
{

using Kind = Operation::Kind;

/* Derived classes define the operation of a rank at each step of a round;
 * `steps` is the length of a round. */
class Pattern : public Program
{
  public:
    Pattern(std::string name, const JobModel &job,
            const PatternOptions &options)
        : job_(job), options_(options), name_(std::move(name)), done_(job.ranks)
    {
    }

    std::string name() const override
    {
        return name_;
    }

    Operation next(Rank rank) override
    {
        const std::uint64_t steps = length(rank);
        const std::uint64_t done = done_[rank]++;
        return at(rank, done / steps, done % steps);
    }

  protected:
    virtual std::uint64_t length(Rank rank) const = 0;
    virtual Operation at(Rank rank, std::uint64_t round,
                         std::uint64_t step) const = 0;

    Operation compute(Rank rank, std::uint64_t round) const
    {
        const double part = fraction_of(job_.seed, rank, round) - 0.5;
        return {Kind::compute, 0, 0,
                options_.period * (1 + options_.imbalance * part)};
    }
    Operation send(std::uint64_t to) const
    {
        return {Kind::send, static_cast<Rank>(to % job_.ranks), options_.bytes};
    }
    Operation receive(std::uint64_t from) const
    {
        return {Kind::receive, static_cast<Rank>(from % job_.ranks)};
    }

    JobModel job_;
    PatternOptions options_;

  private:
    std::string name_;
    std::vector<std::uint64_t> done_; /* operations done, by rank */
};

class Independent : public Pattern
{
    using Pattern::Pattern;
    std::uint64_t length(Rank) const override
    {
        return 1;
    }
    Operation at(Rank rank, std::uint64_t round, std::uint64_t) const override
    {
        return compute(rank, round);
    }
};

/* Messages over distances that are the same for all ranks. */
class Shifts : public Pattern
{
    using Pattern::Pattern;
    virtual std::uint64_t shifts() const = 0;
    /* Returns a distance in [0, ranks); 0 means a message to itself. */
    virtual Rank shift(std::uint64_t round, std::uint64_t which) const = 0;

    std::uint64_t length(Rank) const override
    {
        return 1 + 2 * shifts();
    }
    Operation at(Rank rank, std::uint64_t round,
                 std::uint64_t step) const override
    {
        if (step == 0) {
            return compute(rank, round);
        }
        const std::uint64_t which = (step - 1) % shifts();
        const std::uint64_t distance = shift(round, which);
        return step <= shifts() ? send(rank + distance)
                                : receive(rank + job_.ranks - distance);
    }
};

class Ring : public Shifts
{
    using Shifts::Shifts;
    std::uint64_t shifts() const override
    {
        return job_.ranks > 1 ? 1 : 0;
    }
    Rank shift(std::uint64_t, std::uint64_t) const override
    {
        return 1;
    }
};

class AllToAll : public Shifts
{
    using Shifts::Shifts;
    std::uint64_t shifts() const override
    {
        return job_.ranks - 1;
    }
    Rank shift(std::uint64_t, std::uint64_t which) const override
    {
        return static_cast<Rank>(which + 1);
    }
};

class Random : public Shifts
{
    using Shifts::Shifts;
    std::uint64_t shifts() const override
    {
        return job_.ranks > 1 ? options_.peers : 0;
    }
    Rank shift(std::uint64_t round, std::uint64_t which) const override
    {
        const double part = fraction_of(job_.seed + 1, round, which);
        return 1 + static_cast<Rank>(part * (job_.ranks - 1));
    }
};

class Wildcard : public Pattern
{
    using Pattern::Pattern;
    std::uint64_t length(Rank rank) const override
    {
        return job_.ranks == 1 ? 1 : rank == 0 ? 2
                                               : 3;
    }
    Operation at(Rank rank, std::uint64_t round,
                 std::uint64_t step) const override
    {
        if (job_.ranks == 1 || (rank != 0 && step == 0)) {
            return compute(rank, round);
        }
        if (rank == 0) {
            return step == 0 ? Operation{Kind::receive_any}
                             : Operation{Kind::reply, 0, options_.bytes};
        }
        return step == 1 ? send(0) : receive(0);
    }
};

class Collective : public Pattern
{
    using Pattern::Pattern;
    std::uint64_t length(Rank) const override
    {
        return 2;
    }
    Operation at(Rank rank, std::uint64_t round,
                 std::uint64_t step) const override
    {
        return step == 0 ? compute(rank, round) : Operation{Kind::collective};
    }
};

using Make = std::function<std::unique_ptr<Program>(
    const std::string &, const JobModel &, const PatternOptions &)>;

template <typename Type>
Make maker()
{
    return [](const std::string &name, const JobModel &job,
              const PatternOptions &options) {
        return std::make_unique<Type>(name, job, options);
    };
}

const std::map<std::string, Make> &makers()
{
    static const std::map<std::string, Make> all{
        {"independent", maker<Independent>()},
        {"ring", maker<Ring>()},
        {"all-to-all", maker<AllToAll>()},
        {"wildcard", maker<Wildcard>()},
        {"collective", maker<Collective>()},
        {"random", maker<Random>()},
    };
    return all;
}

} // namespace

const std::vector<std::string> &pattern_names()
{
    static const std::vector<std::string> names = [] {
        std::vector<std::string> names;
        for (const auto &[name, make] : makers()) {
            names.push_back(name);
        }
        return names;
    }();
    return names;
}

std::unique_ptr<Program> make_pattern(const std::string &name,
                                      const JobModel &job,
                                      const PatternOptions &options)
{
    auto found = makers().find(name);
    if (found == makers().end()) {
        fail("unknown pattern of communication {}", name);
    }
    return found->second(name, job, options);
}

} // namespace ckpt::simulator
