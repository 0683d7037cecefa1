/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * marker_box.hpp - the markers of a checkpoint in transit between ranks, and
 * the counts that they have brought to each rank.
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

    /* `handled` is called when a rank has handled a marker. That is some time
     * after its arrival, because a rank handles its markers one after the
     * other. */
    MarkerBox(EventQueue &queue, const JobModel &job,
              const Application &application, Handled handled);

    /* Sends marker(from, to, count) at a time that is not in the past. */
    void send(Seconds when, Rank from, Rank to, std::uint64_t count);
    /* The first-use rule: sends a marker now, unless this rule has sent one
     * before. */
    bool send_for_first_use(Rank from, Rank to, std::uint64_t count);

    /* Called when an old-coloured message arrives, the `count`th from its
     * sender. */
    void old_arrived(Rank rank, Rank from, std::uint64_t count);

    void handle(const Event &event) override;

    std::uint64_t handled_by(Rank rank) const { return ranks_[rank].handled; }
    /* Whether the marker from `from` and all messages that it counts have
     * arrived. */
    bool is_complete(Rank rank, Rank from) const;
    /* The same for all senders whose markers have arrived. */
    bool is_complete(Rank rank) const { return ranks_[rank].missing == 0; }
    bool all_complete() const { return incomplete_ == 0; }

  private:
    /* Events of a marker, with its receiver, sender and count. */
    enum Kind : std::uint32_t {
        arrival,
        handling
    };

    struct State {
        PeerTable counts; /* counts in the markers, plus one */
        PeerTable first_used;
        Seconds free = 0;
        std::uint64_t handled = 0;
        Rank missing = 0; /* senders with messages in transit */
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
