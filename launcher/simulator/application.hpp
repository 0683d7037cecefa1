/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * application.hpp - the ranks at work: they compute, send, receive and meet in
 * collectives. Includes the plugin's additions: message colours, counts, the
 * log, and the gate in front of collectives.
 */
#pragma once

#include "simulator/event_queue.hpp"
#include "simulator/peer_table.hpp"
#include "simulator/program.hpp"

#include <limits>
#include <map>
#include <vector>

namespace ckpt::simulator
{

/* The protocol's part while the application runs. */
class CutRules
{
  public:
    virtual ~CutRules() = default;
    /* Called before a rank sends after its cut. */
    virtual void before_new_send(Rank from, Rank to) = 0;
    /* Whether the rank may receive messages that `from` has sent after its
     * cut. */
    virtual bool accepts_new(Rank rank, Rank from) const = 0;
    /* Called when a message that was sent before the sender's cut arrives; it
     * is the `count`th of the sender. */
    virtual void old_arrived(Rank rank, Rank from, std::uint64_t count) = 0;
    virtual void left_collective(Rank rank) = 0;
};

/* Receives all events, in the order in which they happen. */
class Recorder
{
  public:
    virtual ~Recorder() = default;
    virtual void sent(Rank from, Rank to, std::uint64_t bytes) = 0;
    /* `is_new`: by its colour, the message was sent after the sender's cut. */
    virtual void received(Rank rank, Rank from, bool is_new) = 0;
    virtual void cut(Rank rank) = 0;
    virtual void logged(Rank rank, Rank from, std::uint64_t bytes) = 0;
};

struct Log {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
};

class Application : public EventHandler
{
  public:
    /* All arguments must outlive this object; `recorder` may be null. */
    Application(EventQueue &queue, const JobModel &job, Program &program,
                Recorder *recorder);

    void start();
    void set_rules(CutRules *rules)
    {
        rules_ = rules;
    }

    /* Cuts a rank. It stops, and its unreceived messages go into its log. So do
     * messages of the old colour that arrive later. */
    void cut(Rank rank);
    void resume(Rank rank);
    bool has_cut(Rank rank) const { return ranks_[rank].cut; }
    /* The rank may now accept more messages than before; tries again. */
    void look_again(Rank rank);

    /* The gate: a rank enters collectives only up to its target number. */
    std::uint64_t shut_gate(Rank rank); /* target: those entered */
    void set_target(Rank rank, std::uint64_t target);
    void open_gate(Rank rank)
    {
        set_target(rank, open);
    }
    /* Whether the rank has left as many collectives as its target, and is not
     * inside one. */
    bool is_aligned(Rank rank) const;

    /* Messages of the old colour: sent to and received from each peer, and
     * received from all. */
    const PeerTable &sent(Rank rank) const { return ranks_[rank].sent; }
    std::uint64_t arrived(Rank rank, Rank from) const;
    std::uint64_t arrived(Rank rank) const { return ranks_[rank].arrived_all; }
    const Log &log() const { return log_; }
    std::uint64_t messages() const { return messages_; }
    Seconds stop_time(Rank rank) const { return ranks_[rank].stop_time; }

    void handle(const Event &event) override;

  private:
    static constexpr std::uint64_t open =
        std::numeric_limits<std::uint64_t>::max();
    static constexpr Rank anybody = std::numeric_limits<Rank>::max();

    enum Kind : std::uint32_t {
        wake,
        arrival,
        collective_done
    };
    enum class Doing : std::uint8_t {
        busy,
        receiving,
        at_gate,
        inside,
        ended
    };

    struct Envelope {
        Rank from;
        bool is_new;
        std::uint64_t bytes;
    };
    struct State {
        Doing doing = Doing::ended; /* ended: also until it starts */
        bool cut = false;
        bool stopped = false;
        Rank awaited = anybody;
        Rank last_source = 0;
        std::uint32_t generation = 0; /* invalidates scheduled wakes */
        Seconds busy_until = 0;       /* while stopped: the remaining time */
        Seconds link_free = 0;
        Seconds stop_time = 0; /* while stopped: the time of the stop */
        std::uint64_t entered = 0;
        std::uint64_t left = 0;
        std::uint64_t target = open;
        std::uint64_t arrived_all = 0;
        PeerTable sent;
        PeerTable arrived;
        std::vector<Envelope> inbox; /* starts at index `first` */
        std::size_t first = 0;
    };

    void proceed(Rank rank);
    void be_busy(Rank rank, Seconds duration);
    void send(Rank rank, Rank to, std::uint64_t bytes);
    void arrive(Rank rank, const Envelope &envelope);
    void try_receive(Rank rank);
    std::size_t find(Rank rank) const;
    void take(State &state, std::size_t index);
    void add_to_log(Rank rank, const Envelope &envelope);
    void reach_collective(Rank rank);
    void leave_collective();

    EventQueue &queue_;
    const JobModel &job_;
    Program &program_;
    Recorder *recorder_;
    CutRules *rules_ = nullptr;
    std::vector<State> ranks_;
    std::map<std::uint64_t, Rank> inside_; /* ranks, by collective */
    Log log_;
    std::uint64_t messages_ = 0;
};

} // namespace ckpt::simulator
