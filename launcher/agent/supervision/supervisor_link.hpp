/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * supervisor_link.hpp - reports this node's ranks to `ckpt run`, and takes its orders
 * (docs/protocol.md, section 10).
 */
#pragma once

#include "agent/base/ended_processes.hpp"
#include "agent/supervision/node_watch.hpp"
#include "agent/links/peer_connection.hpp"
#include "agent/messages/salvage_event.hpp"
#include "agent/base/settings.hpp"
#include "agent/supervision/supervisor_file.hpp"
#include "agent/ranks/unprotected.hpp"

#include <nlohmann/json.hpp>

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace ckpt
{

class LocalNode;
class RankSession;

class SupervisorLink
{
  public:
    using Time = EventLoop::Time;

    struct Hooks {
        std::function<void(const nlohmann::json &order)> order;
        /* This launch must not go on: a node is lost, or another launch has begun. */
        std::function<void(const std::string &why)> over;
        /* A rank's process has ended. status: from wait(2) */
        std::function<void(int rank, int status)> exited = [](int, int) {};
    };

    SupervisorLink(EventLoop &loop, WorkerThread &worker, const LocalNode &local,
                   const Settings &settings, RejectedFrames &rejected, Hooks hooks);

    /* Events of this node's ranks. */
    void rank_here(const RankSession &rank);
    void rank_finished(int rank);
    void rank_gone(int rank, Fd process);
    /* The process is not the rank any more: it has ended, or has become a shell. */
    void rank_has_ended(int rank);
    void salvage(const SalvageEvent &news);
    /* This agent is the coordinator: `ckpt run` can ask it for checkpoints. */
    void coordinates();
    /* The coordinator is about to end all ranks after this checkpoint, on request. */
    void ends_behind(const std::string &checkpoint);
    /* The job has become unprotected, or protected again. */
    void protection(const Unprotected::News &news);
    /* All ranks of this agent have gone: asks whether their end was requested. */
    void ask_about_end();
    /* Whether the end was requested, as far as known. */
    bool is_end_asked_for() const { return is_end_asked_for_; }

    /* This agent ends because there is nothing left to do. */
    void leave() { send({{"type", "leave"}}); }

    void send(const nlohmann::json &frame);
    bool is_connected() const { return peer_ && peer_->connected(); }
    bool idle() const
    {
        return !is_reading_ && (!peer_ || peer_->idle()) && ended_.idle() && !awaits_cause_;
    }

    void tick(Time now);
    Time next_tick() const { return next_look_; }

  private:
    void connect();
    void connect_to(const std::optional<SupervisorFile> &file);
    void introduce();
    void order(const nlohmann::json &order);
    void await(const std::map<int, pid_t> &ranks);
    void watch_nodes(const nlohmann::json &table);
    void offer_to_watch();
    void trouble(const std::string &why);
    void over(const std::string &why);
    void look_at_ranks();
    void look_at(int rank, pid_t process);
    void look_whether_deserted(Time now);

    EventLoop &loop_;
    WorkerThread &worker_;
    const LocalNode &local_;
    const Settings &settings_;
    RejectedFrames &rejected_;
    Hooks hooks_;
    EndedProcesses ended_;
    std::unique_ptr<PeerConnection> peer_;
    std::optional<membership::UdpSocket> socket_; /* until watch_ uses it */
    std::unique_ptr<NodeWatch> watch_;
    bool is_proven_ = false; /* all nodes receive from each other, so the watch is trusted */
    std::string trouble_;    /* first trouble that the watch reported before that */
    bool is_over_ = false;
    bool awaits_cause_ = false; /* waits for an answer to ask_about_end() */
    bool is_end_asked_for_ = false;
    /* A rank has died, and `ckpt run` does not know it. */
    std::optional<int> unanswered_;
    Time unanswered_since_{};
    std::set<int> finished_;
    std::map<int, pid_t> awaited_;        /* ranks of this launch's previous agent */
    std::set<int> stopped_;               /* ranks that a signal has stopped */
    std::optional<SalvageEvent> salvage_; /* the latest news */
    bool coordinates_ = false;
    std::string ends_behind_; /* name of a checkpoint; "": no end after a checkpoint is requested */
    Time next_look_;
    bool is_reading_ = false; /* the address of `ckpt run` is being read */
    WorkerThread reader_;     /* last, so that its work ends before other members are destroyed */
};

} // namespace ckpt
