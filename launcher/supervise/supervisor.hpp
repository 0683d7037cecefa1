/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * supervisor.hpp - what `ckpt run` knows of a launch from the agents of its nodes, and what it
 * has them do (docs/protocol.md, section 10).
 */
#pragma once

#include "agent/control.hpp"
#include "agent/loop_timer.hpp"
#include "agent/peer_listener.hpp"
#include "membership/membership_service.hpp"
#include "supervise/launch_watch.hpp"

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace ckpt
{

class Supervisor
{
  public:
    using Answer = std::function<void(const control::Reply &)>;

    struct Hooks {
        /* All ranks are about to be ended behind a checkpoint, on request. */
        std::function<void(const std::string &checkpoint)> ends;
        /* The job cannot be saved, and why, perhaps for an interval by now; or it can again. */
        std::function<void(bool is_unprotected, bool is_overdue, const std::string &why)>
            protection;
        /* Whether somebody has asked for the end of the launch by now. */
        std::function<bool()> is_asked_to_end;
    };

    /*
     * Listens, and says where in `file`. watch: is told what becomes of ranks. Throws Error.
     * `loop` and `watch` must live longer.
     */
    Supervisor(EventLoop &loop, std::filesystem::path file, std::string host,
               std::uint64_t incarnation, LaunchWatch &watch, Hooks hooks);
    ~Supervisor(); /* removes the file */

    /* SIGKILL to all ranks, by their agents. */
    void end_ranks();

    /* While this process is stopped no node watches another; then they do again. */
    void suspend_membership();
    void resume_membership();

    /* Has the agent that coordinates take a request, one of several perhaps. False if there
     * is none just now. The answers come until one is no progress, or until `gone`. */
    bool request(const control::Request &request, Answer answer,
                 std::function<void()> gone);

    /* A request has not been answered. */
    bool awaits_answer() const { return !asked_.empty(); }
    /* A rank has ended, and how may still be told. */
    bool awaits_status() const;
    /* The rank that a process of this node is, as far as agents have told. */
    std::optional<int> rank_of(pid_t process) const;
    /* Agents have yet to go. */
    bool has_agents() const;
    /* There are ranks, of agents that are connected, on nodes that are not lost. */
    bool has_ranks() const;
    /* Nodes of which the agent has gone without having told so, and none has come since. */
    std::set<std::string> vanished() const;

  private:
    struct Agent {
        std::unique_ptr<FrameStream> stream;
        std::string host;
        std::map<int, pid_t> ranks;   /* that have not ended */
        std::map<int, pid_t> awaited; /* that the agent before it had, until they come */
        bool coordinates = false;
        bool is_connected = true;
        bool has_left = false; /* by itself */
        std::optional<membership::Table::Entry> member; /* where it takes datagrams */
        bool has_heard = false; /* of other nodes, by datagrams */
    };

    /* A request that has not been answered. */
    struct Asked {
        Answer answer;
        std::function<void()> gone;
    };

    void accept(std::unique_ptr<FrameStream> stream, const std::string &host);
    void take_the_place_of_others(Agent &agent);
    void said(Agent &agent, const nlohmann::json &frame);
    void lost(Agent &agent);
    void answered(std::uint64_t number, const control::Reply &reply);
    void rank_event(Agent &agent, const std::string &type, const nlohmann::json &frame);
    bool all_are_here() const;
    void begin_membership();
    void end_membership();
    void let_in(Agent &agent);
    void view_changed(const membership::action::Install &change);
    void cut_off();
    void tell_lost();
    void prove();
    void tell_all(const nlohmann::json &frame);

    EventLoop &loop_;
    std::filesystem::path file_;
    LaunchWatch &watch_;
    Hooks hooks_;
    Refusals refusals_;
    std::list<Agent> agents_;
    bool is_ending_ = false;
    int rank_count_ = 0;
    std::map<pid_t, int> ranks_of_processes_; /* of this node */
    std::string host_;
    membership::UdpSocket socket_;
    membership::Table table_; /* without members: there is no membership yet */
    std::map<std::string, membership::Life> lives_; /* by host */
    std::unique_ptr<membership::Service> service_;
    std::set<std::string> suspects_; /* nodes that are no members any more */
    bool is_cut_off_ = false;        /* or we are not */
    bool is_resuming_ = false;       /* agents are asked to be members again */
    bool is_suspended_ = false;      /* the membership, while this process is stopped */
    bool is_proven_ = false;         /* all nodes hear of each other: that is believed */
    EventLoop::Time proof_until_{};
    LoopTimer proof_;        /* the time they have for that */
    std::map<std::uint64_t, Asked> asked_; /* by number */
    std::uint64_t last_number_ = 0;        /* of a request */
    std::unique_ptr<PeerListener> listener_;
};

} // namespace ckpt
