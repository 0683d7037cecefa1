/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agent.hpp - the node agent: its sockets, its ranks, and, on rank 0's node,
 * the coordinator (docs/protocol.md, section 1).
 */
#pragma once

#include "agent/links/address_file.hpp"
#include "agent/control/control_server.hpp"
#include "agent/coordinator/coordinator.hpp"
#include "agent/coordinator/coordinator_link.hpp"
#include "agent/base/listener.hpp"
#include "agent/ranks/local_node.hpp"
#include "agent/control/metrics_file.hpp"
#include "agent/links/peer_listener.hpp"
#include "agent/base/rejected_frames.hpp"
#include "agent/recovery/recovery.hpp"
#include "agent/coordinator/remote_node.hpp"
#include "agent/base/settings.hpp"
#include "agent/supervision/supervisor_link.hpp"
#include "agent/base/worker_thread.hpp"
#include "common/event_loop.hpp"

#include <list>
#include <memory>
#include <optional>

namespace ckpt
{

class Agent
{
  public:
    /* Starts to listen. Throws Error. */
    explicit Agent(const Settings &settings);
    ~Agent();

    /* Works until all ranks are gone and all work is done. A violated invariant does not end it,
     * but too many do (InvariantViolated). */
    void run();

  private:
    using Time = EventLoop::Time;

    struct Remote {
        std::unique_ptr<RemoteNode> node;
        bool gone = false; /* to be destroyed, but not inside its own handlers */
    };

    std::string welcome(const RankSession &rank);
    bool spans_nodes(const RankSession &rank) const;
    void listen_to_peers();
    void joined(const std::string &address);
    void coordinate();
    void add_peer(std::unique_ptr<FrameStream> stream, const std::string &host,
                  const std::string &purpose);
    void add_remote(std::unique_ptr<FrameStream> stream,
                    const std::string &host);
    void supervise();
    void request(ClientId client, const control::Request &request);
    bool note(const control::Request &request);
    void answer(ClientId client, const control::Reply &reply);
    control::Status status() const;
    void salvage(const SalvageEvent &news);
    LocalNode::Hooks local_hooks();
    Recovery::Hooks recovery_hooks();
    void roll_back(std::uint64_t number, std::function<void(const std::string &)> done);
    RejectedFrames::Counts rejected() const;
    void tell_metrics(Time now);
    bool may_have_to_copy(Time now) const;
    bool finished(Time now) const;
    void ask_about_end();
    bool close_doors();
    void leave();
    Time next_tick(Time now) const;
    bool go_on();
    void heed_violations();

    const Settings settings_;
    RejectedFrames rejected_;
    EventLoop loop_;
    WorkerThread worker_;
    WorkerThread caller_; /* calls other agents and `ckpt run`, also while a file system hangs */
    LocalNode local_;
    Recovery recovery_;
    ControlServer control_;
    std::string address_; /* of this agent, in the form that ranks pass on */
    int rank_count_ = 0;
    std::optional<LaunchFacts> facts_;
    std::unique_ptr<Coordinator> coordinator_; /* set if this agent coordinates, else ... */
    std::unique_ptr<AddressFile> address_file_;
    std::unique_ptr<MetricsFile> metrics_; /* of the coordinator; null: the user has set no file
                                              for metrics */
    std::unique_ptr<PeerListener> peers_;
    /* agents of other nodes, if this agent coordinates */
    std::list<Remote> remotes_;
    std::unique_ptr<CoordinatorLink> link_;      /* ... this is the way to the coordinator */
    bool has_given_up_ = false;                  /* because of a violated invariant */
    bool has_asked_about_end_ = false;           /* since the last rank ended */
    std::unique_ptr<SupervisorLink> supervisor_; /* set if `ckpt run` started the job */
    std::unique_ptr<Listener> rank_listener_;
    std::unique_ptr<Listener> control_listener_;
    /* the lock that connecting ranks take; held once the sockets are closed */
    Fd doors_;
    std::string salvage_error_; /* why the agent does not replay a rank that died */
    control::InPlace in_place_; /* without `kept` and `standby` */
    Time started_;
    Time alone_since_{}; /* when the last rank disconnected */
};

} // namespace ckpt
