/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * supervisor.hpp - the agents of a launch, as `ckpt run` sees them, and its orders to them
 * (docs/protocol.md, section 10).
 */
#pragma once

#include "agent/control/control.hpp"
#include "agent/base/loop_timer.hpp"
#include "agent/links/peer_listener.hpp"
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
        /* The coordinator is about to end all ranks after a checkpoint, on request. */
        std::function<void(const std::string &checkpoint)> ends;
        /* The job has become unprotected, for this reason and perhaps for a whole interval by
         * now; or it is protected again. */
        std::function<void(bool is_unprotected, bool is_overdue, const std::string &why)>
            protection;
        /* All ranks have gone back to this checkpoint in place, after the death of this one. */
        std::function<void(int rank, std::uint64_t number, double seconds)> recovered;
        std::function<void(int rank, double seconds)> replayed;
        /* The answer to adopt(): "", or why the ranks cannot go on without their launcher. */
        std::function<void(const std::string &why)> adopted;
        /* Whether the end of the launch has been requested. */
        std::function<bool()> is_asked_to_end;
    };

    /*
     * Listens, and writes the address to `file`. watch: gets the events of ranks. Throws Error.
     * `loop` and `watch` must live longer.
     */
    Supervisor(EventLoop &loop, std::filesystem::path file, std::string host,
               std::uint64_t incarnation, LaunchWatch &watch, Hooks hooks);
    ~Supervisor(); /* removes the file */

    /* Makes the agents send SIGKILL to all ranks. */
    void end_ranks();

    /* Asks the coordinating agent to let the ranks go on without their launcher, which has ended.
     * Returns false if none is connected. */
    bool adopt();

    /* suspend: nodes stop watching each other, as this process is about to be stopped. resume:
     * they watch again. */
    void suspend_membership();
    void resume_membership();

    /* Sends a request to the coordinating agent; several may be under way. Returns false if no
     * coordinating agent is connected. `answer` gets replies until one is not a progress report.
     * If the agent is lost, `gone` is called instead. */
    bool request(const control::Request &request, Answer answer,
                 std::function<void()> gone);

    /* Whether a request is unanswered. */
    bool awaits_answer() const { return !asked_.empty(); }
    /* Whether a rank has ended, and its status may still be reported. */
    bool awaits_status() const;
    /* Returns the rank of a process of this node, as far as agents have reported it. */
    std::optional<int> rank_of(pid_t process) const;
    /* Whether another process has taken the process's place as a rank. */
    bool is_former(pid_t process) const;
    /* Returns the processes of ranks of this node that have not ended, as far as reported. */
    std::map<int, pid_t> processes_here() const;
    /* Whether an agent is still connected. */
    bool has_agents() const;
    /* Whether there are ranks whose agents are connected, on nodes that are not lost. */
    bool has_ranks() const;
    /* Nodes whose agent has gone without notice and has no successor. */
    std::set<std::string> vanished() const;

  private:
    struct Agent {
        std::unique_ptr<FrameStream> stream;
        std::string host;
        std::map<int, pid_t> ranks;   /* ranks that have not ended */
        std::map<int, pid_t> awaited; /* ranks of its predecessor that have not connected yet */
        bool coordinates = false;
        bool is_connected = true;
        bool has_left = false;                          /* it has announced its end */
        std::optional<membership::Table::Entry> member; /* address for datagrams */
        /* has received datagrams from other nodes */
        bool has_heard = false;
    };

    /* A request without a final answer. */
    struct Asked {
        Answer answer;
        std::function<void()> gone;
    };

    void accept(std::unique_ptr<FrameStream> stream, const std::string &host);
    void take_the_place_of_others(Agent &agent);
    static membership::Table::Entry member_of(const Agent &agent, const nlohmann::json &frame);
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
    RejectedFrames rejected_;
    std::list<Agent> agents_;
    bool is_ending_ = false;
    int rank_count_ = 0;
    std::map<pid_t, int> ranks_of_processes_; /* of this node */
    std::string host_;
    membership::UdpSocket socket_;
    membership::Table table_;                       /* without members: no membership yet */
    std::map<std::string, membership::Life> lives_; /* by host */
    std::unique_ptr<membership::Service> service_;
    std::set<std::string> suspects_; /* nodes that the membership has excluded */
    bool is_cut_off_ = false;        /* the membership has excluded this process, or it has lost
                                        the majority */
    bool is_resuming_ = false;       /* agents are asked to become members again */
    bool is_suspended_ = false;      /* the membership is suspended, while this process is
                                        stopped */
    bool is_proven_ = false;         /* all nodes receive from each other, so the membership is
                                        trusted */
    EventLoop::Time proof_until_{};
    LoopTimer proof_;                      /* time limit for that proof */
    std::map<std::uint64_t, Asked> asked_; /* by number */
    std::uint64_t last_number_ = 0;        /* number of the latest request */
    std::unique_ptr<PeerListener> listener_;
};

} // namespace ckpt
