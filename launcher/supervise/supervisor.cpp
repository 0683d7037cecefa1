/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * supervisor.cpp - the agents of a launch, as `ckpt run` sees them.
 */
#include "supervise/supervisor.hpp"

#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"
#include "agent/supervision/member_table.hpp"
#include "agent/supervision/supervisor_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace ckpt
{

using nlohmann::json;
using std::chrono::steady_clock;

namespace
{

constexpr auto time_for_proof = std::chrono::seconds(4);

} // namespace

Supervisor::Supervisor(EventLoop &loop, std::filesystem::path file, std::string host,
                       std::uint64_t incarnation, LaunchWatch &watch, Hooks hooks)
    : loop_(loop), file_(std::move(file)), watch_(watch), hooks_(std::move(hooks)),
      host_(std::move(host)), socket_(0), proof_(loop, [this] { prove(); })
{
    table_.key = MessageKey::make();
    table_.incarnation = incarnation;
    listener_ = std::make_unique<PeerListener>(
        loop_, supervised_as(host_, incarnation), PeerAddress::make(), rejected_,
        [this](std::unique_ptr<FrameStream> stream, const std::string &from,
               const std::string &) { accept(std::move(stream), from); });
    make_private_directory(file_.parent_path());
    SupervisorFile{incarnation, listener_->address()}.write(file_);
}

Supervisor::~Supervisor()
{
    ::unlink(file_.c_str());
}

void Supervisor::accept(std::unique_ptr<FrameStream> stream, const std::string &host)
{
    CKPT_EXPECT(stream != nullptr);
    if (host.empty()) {
        fail("an agent without a host");
    }
    Agent &agent = agents_.emplace_back();
    agent.host = host;
    agent.stream = std::move(stream);
    take_the_place_of_others(agent);
    agent.stream->handle({[this, &agent](const json &frame) { said(agent, frame); },
                          [this, &agent] { lost(agent); }});
    if (is_ending_) {
        agent.stream->send({{"type", "kill"}});
    }
}

/* Makes an agent responsible for the ranks of earlier agents on its node that have gone. If such
 * a rank does not connect, it may have been stopped before it could. So the new agent checks
 * these ranks. */
void Supervisor::take_the_place_of_others(Agent &agent)
{
    watch_.node_served(agent.host);
    std::erase_if(agents_, [&](Agent &other) {
        if (other.is_connected || other.host != agent.host) {
            return false;
        }
        agent.awaited.merge(other.ranks);
        agent.awaited.merge(other.awaited);
        return true;
    });
    std::erase_if(agent.awaited,
                  [&](const auto &entry) { return agent.ranks.contains(entry.first); });
    if (!agent.awaited.empty()) {
        agent.stream->send({{"type", "await"}, {"ranks", agent.awaited}});
    }
}

/* Entries stay in the list, for vanished(). The next agent may have come before. The loss of
 * this process's own node needs no report. An agent that announced its end had seen its ranks
 * end, except those that it awaited. */
void Supervisor::lost(Agent &agent)
{
    CKPT_EXPECT(agent.is_connected); /* it is lost once */
    agent.is_connected = false;
    agent.stream.reset();
    watch_.agent_lost(agent.host, steady_clock::now());
    if (std::exchange(agent.coordinates, false)) {
        for (const auto &[number, asked] : std::exchange(asked_, {})) {
            asked.gone();
        }
    }
    const auto next = std::find_if(agents_.begin(), agents_.end(), [&](const Agent &other) {
        return other.is_connected && other.host == agent.host;
    });
    if (next != agents_.end()) {
        take_the_place_of_others(*next);
    } else if (agent.host != host_ && (!agent.has_left || !agent.awaited.empty())) {
        watch_.node_unserved(agent.host, steady_clock::now());
    }
}

void Supervisor::answered(std::uint64_t number, const control::Reply &reply)
{
    const auto found = asked_.find(number);
    if (found == asked_.end()) {
        return;
    }
    const Answer answer = found->second.answer; /* the answer may make another request */
    if (reply.event != "progress") {
        asked_.erase(found);
    }
    answer(reply);
}

/* Reads an agent's address for datagrams. An agent cannot take the place of another host. */
membership::Table::Entry Supervisor::member_of(const Agent &agent, const json &frame)
{
    membership::Table::Entry member = member_from(frame.at("member"));

    if (member.host != agent.host) {
        fail("{} gives an address of {}", agent.host, member.host);
    }
    return member;
}

void Supervisor::said(Agent &agent, const json &frame)
{
    const std::string type = frame.at("type");

    if (type == "coordinates") {
        agent.coordinates = true;
        return;
    }
    if (type == "ends") {
        hooks_.ends(frame.at("checkpoint"));
        return;
    }
    if (type == "protection") {
        hooks_.protection(frame.at("unprotected"), frame.at("overdue"), frame.at("why"));
        return;
    }
    if (type == "over") {
        agent.stream->send({{"type", "over"}, {"asked", hooks_.is_asked_to_end()}});
        return;
    }
    if (type == "adopted") {
        hooks_.adopted(frame.at("why"));
        return;
    }
    if (type == "reply") {
        answered(frame.at("number"), frame.at("reply").get<control::Reply>());
        return;
    }
    if (type == "node") {
        agent.member = member_of(agent, frame);
        if (table_.members.size() == 2) {
            end_membership();
            begin_membership();
        } else {
            let_in(agent);
            if (is_resuming_) {
                begin_membership();
            }
        }
    } else if (type == "leave") {
        agent.has_left = true;
    } else if (type == "heard") {
        agent.has_heard = true;
        prove();
    } else {
        rank_event(agent, type, frame);
    }
}

void Supervisor::rank_event(Agent &agent, const std::string &type, const json &frame)
{
    const auto now = steady_clock::now();
    const int rank = frame.at("rank");

    if (rank < 0) {
        fail("a rank {} from {}", rank, agent.host);
    }
    if (type == "here") {
        agent.ranks[rank] = frame.at("pid");
        agent.awaited.erase(rank);
        rank_count_ = frame.at("count");
        if (agent.host == host_) {
            ranks_of_processes_[frame.at("pid")] = rank;
        }
        watch_.rank_here(rank, agent.host);
        begin_membership();
    } else if (type == "finished") {
        agent.ranks.erase(rank);
        watch_.rank_finished(rank);
    } else if (type == "ended") {
        agent.ranks.erase(rank);
        watch_.rank_ended(rank, now);
    } else if (type == "status") {
        watch_.rank_status(rank, frame.at("status"), now);
    } else if (type == "salvaging") {
        watch_.rank_salvaging(rank);
    } else if (type == "salvaged") {
        watch_.rank_salvaged(rank, frame.at("number"), frame.at("interval"), now);
    } else if (type == "lost") {
        watch_.rank_not_salvaged(rank, frame.at("why"), now);
    } else if (type == "recovering") {
        watch_.rank_recovering(rank, agent.host);
        agent.stream->send({{"type", "recover"}, {"allowed", !hooks_.is_asked_to_end()}});
    } else if (type == "recovered") {
        const std::uint64_t number = frame.at("number");
        watch_.rank_recovered(rank, number == 0);
        if (number != 0) {
            hooks_.recovered(rank, number, frame.at("seconds"));
        }
    } else if (type == "replayed") {
        watch_.rank_recovered(rank, true);
        hooks_.replayed(rank, frame.at("seconds"));
    } else if (type == "not_recovered") {
        watch_.rank_not_recovered(rank, frame.at("why"), now);
    } else if (type == "stopped") {
        watch_.rank_stopped(rank, now);
    } else if (type == "continued") {
        watch_.rank_continued(rank, now);
    } else {
        fail("a frame of type '{}' from {}", type, agent.host);
    }
}

/* ---- Membership -------------------------------------------------------------- */

bool Supervisor::all_are_here() const
{
    std::size_t ranks = 0;

    for (const Agent &agent : agents_) {
        if (!agent.is_connected || !agent.member) {
            return false;
        }
        ranks += agent.ranks.size() + agent.awaited.size();
    }
    return ranks == static_cast<std::size_t>(rank_count_);
}

/* Begins a membership, except in two cases. A single node that has all ranks and this process
 * needs no watching. If there are more nodes than possible members, the launcher's own reports
 * have to suffice. */
void Supervisor::begin_membership()
{
    if (!table_.members.empty() || !all_are_here() ||
        (agents_.size() == 1 && agents_.front().host == host_) ||
        agents_.size() >= membership::most_members) {
        return;
    }
    table_.members.push_back(member_here(host_, socket_.port()));
    for (const Agent &agent : agents_) {
        table_.members.push_back(*agent.member);
        lives_[agent.host] = membership::first_life;
    }
    CKPT_INVARIANT(table_.members.size() == agents_.size() + 1); /* and ckpt run itself */
    for (Agent &agent : agents_) {
        let_in(agent);
    }
    service_ = std::make_unique<membership::Service>(
        loop_, std::move(socket_), table_, membership_options(),
        membership::Service::Handlers{
            [this](const membership::action::Install &change) { view_changed(change); },
            [this](const membership::action::Excluded &) { cut_off(); },
            [this] { cut_off(); },
            {}});
    proof_until_ = steady_clock::now() + time_for_proof;
    proof_.start(time_for_proof);
}

/* Ends the membership; the next one has a new key. A job with one agent needs this when that
 * agent is replaced. This process alone has no majority to admit the successor, and no other
 * member can disagree. */
void Supervisor::end_membership()
{
    service_.reset();
    socket_ = membership::UdpSocket(0);
    table_.members.clear();
    table_.key = MessageKey::make();
    suspects_.clear();
    is_cut_off_ = false;
    is_proven_ = false;
}

/* Agents become members again when they have reported their new addresses for datagrams. */
void Supervisor::suspend_membership()
{
    is_suspended_ = service_ != nullptr;
    if (is_suspended_) {
        proof_.stop();
        end_membership();
        tell_all({{"type", "unwatch"}, {"for", "a while"}});
    }
}

void Supervisor::resume_membership()
{
    if (!std::exchange(is_suspended_, false)) {
        return;
    }
    for (Agent &agent : agents_) {
        agent.member.reset();
        agent.has_heard = false;
    }
    is_resuming_ = true;
    tell_all({{"type", "watch"}});
}

/* Sends an agent the list of members and its own index, also to an agent that replaces another
 * one. */
void Supervisor::let_in(Agent &agent)
{
    auto entry = std::find_if(
        table_.members.begin(), table_.members.end(),
        [&](const auto &member) { return member.host == agent.host; });
    if (entry == table_.members.begin() && entry != table_.members.end()) {
        entry = std::find_if(entry + 1, table_.members.end(), [&](const auto &member) {
            return member.host == agent.host; /* the agent of this process's own node */
        });
    }
    if (entry == table_.members.end() || !agent.member) {
        return;
    }
    if (service_) {
        lives_[agent.host]++;
    }
    *entry = *agent.member;
    membership::Table its = table_;
    its.self = static_cast<membership::MemberId>(entry - table_.members.begin());
    CKPT_INVARIANT(its.self > 0 && its.self < its.members.size());
    its.life = lives_[agent.host];
    agent.stream->send({{"type", "members"}, {"table", to_frame(its)}});
    if (is_proven_) {
        agent.stream->send({{"type", "proven"}});
    }
}

void Supervisor::view_changed(const membership::action::Install &change)
{
    CKPT_EXPECT(service_);
    for (const auto &departure : change.departed) {
        suspects_.insert(service_->host(departure.member));
    }
    if (is_proven_) {
        tell_lost();
    }
}

void Supervisor::tell_lost()
{
    CKPT_EXPECT(is_proven_ && service_); /* without proof, silence means nothing */
    const auto now = steady_clock::now();

    for (const std::string &host : suspects_) {
        watch_.node_lost(host, now);
    }
    if (is_cut_off_ && table_.members.size() == 2) {
        watch_.node_lost(table_.members[1].host, now); /* no other member can report that */
    } else if (is_cut_off_) {
        watch_.cut_off(now);
    }
}

void Supervisor::cut_off()
{
    is_cut_off_ = true;
    if (is_proven_) {
        tell_lost();
    }
}

/* Trusts the membership when all agents have received datagrams of another node. Without that
 * proof, silence means nothing: where UDP is blocked, every node would look dead. */
void Supervisor::prove()
{
    const bool all = service_ && service_->has_heard() &&
                     std::all_of(agents_.begin(), agents_.end(), [](const Agent &agent) {
                         return agent.has_heard || !agent.is_connected;
                     });
    if (all && !is_proven_) {
        is_proven_ = true;
        proof_.stop();
        tell_all({{"type", "proven"}});
        tell_lost();
    } else if (!all && !is_proven_ && service_ && steady_clock::now() >= proof_until_) {
        service_.reset();
        suspects_.clear();
        is_cut_off_ = false;
        tell_all({{"type", "unwatch"}});
    }
}

void Supervisor::tell_all(const json &frame)
{
    for (Agent &agent : agents_) {
        if (agent.is_connected) {
            agent.stream->send(frame);
        }
    }
}

/* ---- Orders ------------------------------------------------------------------- */

void Supervisor::end_ranks()
{
    is_ending_ = true;
    tell_all({{"type", "kill"}});
}

bool Supervisor::adopt()
{
    const auto found = std::ranges::find_if(agents_, &Agent::coordinates);

    if (found == agents_.end()) {
        return false;
    }
    found->stream->send({{"type", "adopt"}});
    return true;
}

std::map<int, pid_t> Supervisor::processes_here() const
{
    std::map<int, pid_t> processes;

    for (const Agent &agent : agents_) {
        if (agent.host == host_) {
            processes.insert(agent.ranks.begin(), agent.ranks.end());
            processes.insert(agent.awaited.begin(), agent.awaited.end());
        }
    }
    return processes;
}

bool Supervisor::request(const control::Request &request, Answer answer,
                         std::function<void()> gone)
{
    CKPT_EXPECT(answer && gone);
    auto found = std::find_if(agents_.begin(), agents_.end(),
                              [](const Agent &agent) { return agent.coordinates; });
    if (found == agents_.end()) {
        return false;
    }
    CKPT_INVARIANT(found->stream != nullptr);
    asked_[++last_number_] = {std::move(answer), std::move(gone)};
    found->stream->send(
        {{"type", "request"}, {"number", last_number_}, {"request", request}});
    return true;
}

std::optional<int> Supervisor::rank_of(pid_t process) const
{
    auto found = ranks_of_processes_.find(process);
    return found == ranks_of_processes_.end() ? std::nullopt : std::optional(found->second);
}

bool Supervisor::is_former(pid_t process) const
{
    const auto rank = rank_of(process);

    return rank && std::any_of(agents_.begin(), agents_.end(), [&](const Agent &agent) {
               const auto found = agent.ranks.find(*rank);
               return found != agent.ranks.end() && found->second != process;
           });
}

bool Supervisor::awaits_status() const
{
    const bool may_tell = std::any_of(agents_.begin(), agents_.end(), [](const Agent &agent) {
        return agent.is_connected;
    });
    const auto &failure = watch_.failure();

    return may_tell && failure && failure->kind == Failure::Kind::rank_ended &&
           !failure->status;
}

bool Supervisor::has_agents() const
{
    return std::ranges::any_of(agents_, &Agent::is_connected);
}

bool Supervisor::has_ranks() const
{
    return std::any_of(agents_.begin(), agents_.end(), [this](const Agent &agent) {
        return agent.is_connected && !agent.ranks.empty() &&
               !watch_.lost_nodes().contains(agent.host);
    });
}

std::set<std::string> Supervisor::vanished() const
{
    std::set<std::string> hosts;

    for (const Agent &agent : agents_) {
        if (!agent.is_connected && !agent.has_left) {
            hosts.insert(agent.host);
        }
    }
    return hosts;
}

} // namespace ckpt
