/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * salvage.hpp - handles the death of a rank of this node. It keeps what the rank needs to go on
 * from its independent checkpoint. A ghost takes the rank's place in the checkpoint of the others
 * (docs/protocol.md, section 12).
 */
#pragma once

#include "agent/ranks/kept_copies.hpp"
#include "agent/messages/salvage_news.hpp"
#include "agent/ranks/shared_memory.hpp"
#include "common/event_loop.hpp"
#include "protocol/cut/actions.hpp"
#include "protocol/ghost.hpp"

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
        /* There is a ghost for the rank, whose cut was this. over() answers. */
        std::function<void(int rank, const RankCut &cut)> ghost;
        /* The ghost sends a message. Runs later than the order that it answers. */
        std::function<void(int rank, const ckpt_message &message)> said;
        std::function<void(const SalvageNews &news)> news;
    };

    /* The arguments must live longer. Context of all functions: normal, in the loop's thread. */
    Salvage(EventLoop &loop, bool is_wanted, Hooks hooks);
    ~Salvage();
    Salvage(const Salvage &) = delete;
    Salvage &operator=(const Salvage &) = delete;

    /* Handle SHARED and KEPT. Throw Rejected for an invalid message. */
    void shared(RankSession &rank, const ckpt_message &message);
    void kept(RankSession &rank, const ckpt_message &message);

    /* A rank has connected; has disconnected, though its process may live on. */
    void here(int rank);
    void gone(const RankSession &rank, bool is_finished);
    /* From now on ranks end because this agent ends them. */
    void stop() { is_stopped_ = true; }
    /* Whether a salvage is under way, or begins when a process has ended. */
    bool is_under_way() const { return ghost_ || !ending_.empty(); }
    /* Ends the salvage that began with Hooks::ghost. number: of the checkpoint; 0: there is
     * none, and `why` gives the reason. */
    void over(std::uint64_t number, const Refusal &why);

    /* The functions below concern the ghost that replaces a rank. */
    bool is_ghost(int rank) const { return ghost_ && ghost_->rank == rank; }
    /* The process to be read, and its address. */
    const KeptCopy &copy() const { return ghost_->copy; }
    const std::vector<ckpt_clock> &clocks() const { return ghost_->answers.clocks(); }
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
        KeptCopy copy;
        std::shared_ptr<RankPage> page;
        std::uint64_t interval; /* of the rank when it died */
        Ghost answers;
    };

    void forget_end_of(int rank);
    void ended(int rank);
    void refuse_to_replay(int rank, const Refusal &why);
    std::string obstacle(int rank, const RankCut &cut) const;
    std::string still_obstacle() const;
    void say(const Ghost::Answer &answer);

    EventLoop &loop_;
    const bool is_wanted_;
    bool is_stopped_ = false;
    Hooks hooks_;
    SharedMemory memory_;
    KeptCopies copies_;
    std::map<int, Gone> ending_; /* by rank: processes whose end is awaited */
    std::set<int> dead_;
    std::optional<InPlace> ghost_;
};

} // namespace ckpt
