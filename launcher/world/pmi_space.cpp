/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmi_space.cpp - commands of PMI-1.
 */
#include "world/pmi_space.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace ckpt::world
{

namespace
{

/* What MPICH's own launcher announces. */
constexpr std::size_t longest_key = 64;
constexpr std::size_t longest_value = 1024;
constexpr const char *mapping_key = "PMI_process_mapping";

/* Returns the words KEY=VALUE of a line. A value ends with the blank before the next word, except
 * that of "value", which extends to the end of the line. */
std::map<std::string, std::string> words_of(const std::string &line)
{
    std::map<std::string, std::string> words;

    for (std::size_t at = 0; at < line.size();) {
        const std::size_t equals = line.find('=', at);
        if (equals == line.npos) {
            break;
        }
        const std::string key = line.substr(at, equals - at);
        const std::size_t end =
            key == "value" ? line.size() : std::min(line.find(' ', equals), line.size());
        words[key] = line.substr(equals + 1, end - equals - 1);
        at = end + 1;
    }
    return words;
}

std::string value_of(const std::map<std::string, std::string> &words, const char *key)
{
    const auto found = words.find(key);
    return found == words.end() ? std::string() : found->second;
}

int number_of(const std::string &text)
{
    int number = 0;
    (void)std::from_chars(text.data(), text.data() + text.size(), number); /* 0: not a number */
    return number;
}

} // namespace

PmiSpace::PmiSpace(const World &world)
    : name_(world.name), size_(world.size())
{
    if (world.nodes.size() != 1) {
        fail("world {}: ranks of MPICH can only be on one node yet", world.name);
    }
    values_[mapping_key] = fmt::format("(vector,(0,1,{}))", size_);
}

std::string PmiSpace::put(const Words &words)
{
    const std::string key = value_of(words, "key");
    const std::string value = value_of(words, "value");

    if (key.empty() || key.size() > longest_key || value.size() > longest_value) {
        return "cmd=put_result rc=-1 msg=wrong_length";
    }
    values_[key] = value;
    return "cmd=put_result rc=0 msg=success";
}

std::string PmiSpace::get(const Words &words) const
{
    const auto found = values_.find(value_of(words, "key"));

    return found == values_.end()
               ? "cmd=get_result rc=-1 msg=key_not_found value=unknown"
               : fmt::format("cmd=get_result rc=0 msg=success value={}", found->second);
}

/* Returns the answer, "" if there is none. */
std::string PmiSpace::answer_to(const std::string &command, const Words &words)
{
    if (command == "init") {
        return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0";
    }
    if (command == "get_maxes") {
        return fmt::format("cmd=maxes kvsname_max=256 keylen_max={} vallen_max={}", longest_key,
                           longest_value);
    }
    if (command == "get_appnum") {
        return "cmd=appnum appnum=0";
    }
    if (command == "get_my_kvsname") {
        return fmt::format("cmd=my_kvsname kvsname={}", name_);
    }
    if (command == "get_universe_size") {
        return fmt::format("cmd=universe_size size={}", size_);
    }
    if (command == "put") {
        return put(words);
    }
    if (command == "get") {
        return get(words);
    }
    if (command == "finalize") {
        return "cmd=finalize_ack";
    }
    if (command == "abort") {
        return "";
    }
    /* MPI_Comm_spawn, MPI_Publish_name, MPI_Lookup_name: their answers are called alike. */
    const std::string verb = command.substr(0, command.find('_'));
    return fmt::format("cmd={}_result rc=-1 msg=not_supported", verb);
}

PmiSpace::Outcome PmiSpace::enter_barrier(int rank)
{
    Outcome outcome;

    waiting_.insert(rank);
    CKPT_INVARIANT(static_cast<int>(waiting_.size()) <= size_);
    if (static_cast<int>(waiting_.size()) == size_) {
        for (int one : waiting_) {
            outcome.answers.push_back({one, "cmd=barrier_out\n"});
        }
        waiting_.clear();
    }
    return outcome;
}

PmiSpace::Outcome PmiSpace::obey(int rank, const std::string &line)
{
    CKPT_EXPECT(rank >= 0 && rank < size_);
    const Words words = words_of(line);
    const std::string command = value_of(words, "cmd");
    if (command == "barrier_in") {
        return enter_barrier(rank);
    }
    Outcome outcome;
    const std::string answer = answer_to(command, words);
    if (!answer.empty()) {
        outcome.answers.push_back({rank, answer + "\n"});
    }
    if (command == "init") {
        outcome.event = RankEvent::Kind::connected;
    } else if (command == "finalize") {
        outcome.event = RankEvent::Kind::finalized;
    } else if (command == "abort") {
        outcome.event = RankEvent::Kind::aborted;
        outcome.status = number_of(value_of(words, "exitcode"));
    }
    return outcome;
}

std::vector<std::string> pmi_variables(const World &world, int rank)
{
    const std::vector<int> &local = world.here().ranks;
    const auto found = std::ranges::find(local, rank);

    CKPT_EXPECT(found != local.end());
    return {fmt::format("PMI_RANK={}", rank),
            fmt::format("PMI_SIZE={}", world.size()), "PMI_SPAWNED=0",
            fmt::format("MPI_LOCALNRANKS={}", local.size()),
            fmt::format("MPI_LOCALRANKID={}", found - local.begin())};
}

} // namespace ckpt::world
