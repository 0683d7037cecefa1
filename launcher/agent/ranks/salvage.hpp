/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * salvage.hpp - handles the death of a rank of this node. It keeps what the rank needs to go on
 * from its independent checkpoint. A proxy takes the rank's place in the checkpoint of the others
 * (docs/protocol.md, section 12).
 */
#pragma once

#include "agent/ranks/cow_snapshots.hpp"
#include "agent/messages/salvage_event.hpp"
#include "agent/ranks/shared_memory.hpp"
#include "common/event_loop.hpp"
#include "protocol/cut/actions.hpp"
#include "protocol/rank_proxy.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

namespace ckpt
{

class Salvage
{
  public:
    struct Hooks {
        /* Returns why the job cannot be salvaged, apart from the state of the ranks' shared
         * page; or "". */
        std::function<std::string(int rank)> obstacle;
        /* There is a proxy for the rank, whose cut was this. over() answers. */
        std::function<void(int rank, const RankCut &cut)> proxy;
        /* The proxy sends a message. Runs later than the order that it answers. */
        std::function<void(int rank, const ckpt_message &message)> said;
        std::function<void(const SalvageEvent &news)> news;
    };

    /* The arguments must live longer. Context of all functions: normal, in the loop's thread. */
    Salvage(EventLoop &loop, bool is_wanted, Hooks hooks);
    ~Salvage();
    Salvage(const Salvage &) = delete;
    Salvage &operator=(const Salvage &) = delete;

    /* Handle SHARED and COW_SNAPSHOT. Throw Rejected for an invalid message. */
    void shared(RankSession &rank, const ckpt_message &message);
    void kept(RankSession &rank, const ckpt_message &message);

    /* A rank has connected; has disconnected, though its process may live on. */
    void here(int rank);
    void gone(const RankSession &rank, bool is_finished);
    /* From now on ranks end because this agent ends them. */
    void stop() { is_stopped_ = true; }
    /* Whether a salvage is under way, or begins when a process has ended. */
    bool is_under_way() const { return proxy_ || !ending_.empty(); }
    /* Ends the salvage that began with Hooks::proxy. number: of the checkpoint; 0: there is
     * none, and `why` gives the reason. */
    void over(std::uint64_t number, const Refusal &why);
    /* The rank comes back beside the others, which live on in another world: no proxy is there any
     * more. All copies are of the former world. */
    void hand_over();

    /* The functions below concern the proxy that replaces a rank. */
    bool is_proxy(int rank) const { return proxy_ && proxy_->rank == rank; }
    /* The process to be read, and its address. */
    const CowSnapshot &copy() const { return proxy_->copy; }
    const std::vector<ckpt_clock> &clocks() const { return proxy_->answers.clocks(); }
    void send(const action::Send &order, std::uint64_t epoch);
    void set_targets(const std::vector<std::uint64_t> &targets);
    void set_expected(const std::vector<std::uint64_t> &expected);

    /* For `ckpt status`; nothing: no rank takes independent checkpoints. */
    std::optional<IndependentState> independent() const { return memory_.independent(); }
    int copies(int rank) const { return copies_.count(rank); }

  private:
    /* A rank that has disconnected. */
    struct Gone {
        Fd process;
        std::shared_ptr<RankPage> page;
        RankCut cut;
    };
    struct InPlace {
        int rank;
        CowSnapshot copy;
        std::shared_ptr<RankPage> page;
        std::uint64_t interval; /* of the rank when it died */
        RankProxy answers;
    };

    void forget_end_of(int rank);
    void ended(int rank);
    void refuse_to_replay(int rank, const Refusal &why);
    std::string obstacle(int rank, const RankCut &cut) const;
    std::string still_obstacle() const;
    void say(const RankProxy::Answer &answer);

    EventLoop &loop_;
    const bool is_wanted_;
    bool is_stopped_ = false;
    Hooks hooks_;
    SharedMemory memory_;
    CowSnapshots copies_;
    std::map<int, Gone> ending_; /* by rank: processes whose end is awaited */
    std::set<int> dead_;
    std::optional<InPlace> proxy_;
};

} // namespace ckpt
