/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * marker_box.hpp - the markers of a checkpoint: on their way from rank to rank,
 * and what each rank has learnt from them.
 */
#pragma once

#include "simulator/application.hpp"

#include <functional>
#include <vector>

namespace ckpt::simulator
{

class MarkerBox : public EventHandler
{
  public:
    using Handled = std::function<void(Rank rank, Rank from)>;

    /* `handled` is called when a rank has handled a marker: some time after it
     * has arrived, as markers to one rank are handled one after the other. */
    MarkerBox(EventQueue &queue, const JobModel &job,
              const Application &application, Handled handled);

    /* Sends marker(from, to, count) at a time that is not before now. */
    void send(Seconds when, Rank from, Rank to, std::uint64_t count);
    /* The first-use rule: sends one now, unless one was sent by this rule. */
    bool send_for_first_use(Rank from, Rank to, std::uint64_t count);

    /* An old-coloured message has arrived, the `count`th from its sender. */
    void old_arrived(Rank rank, Rank from, std::uint64_t count);

    void handle(const Event &event) override;

    std::uint64_t handled_by(Rank rank) const { return ranks_[rank].handled; }
    /* Complete with respect to a rank: the marker is there, and all messages
     * that it counts. */
    bool is_complete(Rank rank, Rank from) const;
    /* With respect to all whose markers are there. */
    bool is_complete(Rank rank) const { return ranks_[rank].missing == 0; }
    bool all_complete() const { return incomplete_ == 0; }

  private:
    /* Of a marker, with its receiver, sender and count. */
    enum Kind : std::uint32_t { arrival, handling };

    struct State {
        PeerTable counts; /* of markers, plus one */
        PeerTable first_used;
        Seconds free = 0;
        std::uint64_t handled = 0;
        Rank missing = 0; /* senders with messages still to come */
    };

    void arrive(const Event &event);
    void learn(Rank rank, Rank from, std::uint64_t count);

    EventQueue &queue_;
    const JobModel &job_;
    const Application &application_;
    Handled handled_;
    std::vector<State> ranks_;
    Rank incomplete_ = 0;
};

} // namespace ckpt::simulator
