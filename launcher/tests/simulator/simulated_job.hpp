/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * simulated_job.hpp - a job of ranks that run random programs and speak the rank side of
 * docs/protocol.md; a seed determines the order of all events.
 *
 * It is a model of the stand-in: it reacts to each message as a rank must, and it checks at each
 * capture that the cut is consistent.
 */
#pragma once

#include "protocol/cut/cut_protocol.hpp"

#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace ckpt::test
{

enum class Op {
    compute,
    send,       /* buffered: never waits */
    receive,    /* waits for the next message of one peer */
    collective, /* see Leaving */
    begin,      /* the same, nonblocking */
    complete,   /* waits for an operation that was begun */
    release,    /* frees a communicator: synchronises, cannot be redone */
    unclocked,  /* a call of the lower half that is not a collective, while other threads send a
                   message and wait */
    meet,       /* a call of the lower half in which two ranks wait for each other */
};

/* When a member may leave a collective that it has entered. */
enum class Leaving {
    together,    /* when all have entered: barrier, allreduce */
    after_root,  /* the root at once, others after the root: broadcast */
    before_root, /* the root when all have entered, others at once: reduce */
};

struct Step {
    Op op;
    int peer = 0;         /* send, receive, unclocked, meet: rank; collective: root */
    int communicator = 0; /* collective, begin, release */
    Leaving leaving = Leaving::together;
    bool redo = false;     /* begin: also when complete */
    std::size_t begun = 0; /* complete: which step of the program began it */
    int duration = 0;      /* turns; collective: the minimum */
};

class SimulatedJob : public RankPages
{
  public:
    explicit SimulatedJob(unsigned seed);

    /* Runs all programs to their ends with checkpoints at random moments. Returns the first error,
     * or an empty text. */
    std::string run();

    int committed() const { return committed_; }
    int given_up() const { return given_up_; }
    int saved_inside() const { return saved_inside_; }
    int runs_ordered() const { return runs_ordered_; }
    /* Nonblocking collectives that a restart would begin again. */
    int begun_again() const { return begun_again_; }

    std::vector<ckpt_clock> clocks(int rank) const override;
    std::uint64_t sent(int from, int to) const override;
    std::uint64_t received(int to, int from) const override;

  private:
    struct Rank {
        std::vector<Step> program;
        std::size_t next = 0;
        std::uint64_t epoch = 0; /* of the last REQUEST */
        bool inside = false;     /* of program[next] */
        int turns = 0;           /* spent in that call */
        bool waiting = false;
        bool told_inside = false;
        bool told_wait = false;
        bool pending = false; /* the gate is closed */
        bool frozen = false;  /* waits for the agent */
        bool at_gate = false;
        bool draining = false;
        bool signalled = false;
        bool finished = false;
        std::vector<ckpt_clock> clock; /* by communicator */
        std::map<int, int> met;        /* by rank: calls in which it is awaited */
        /* Nonblocking collectives that are not complete: step, number. */
        std::map<std::size_t, std::uint64_t> begun;
        std::vector<ckpt_peer> now;  /* present counters */
        std::vector<ckpt_peer> page; /* reported counters */
        std::deque<ckpt_message> inbox, outbox;
    };

    int draw(int bound) { return static_cast<int>(random_() % bound); }
    void invent_programs();
    bool member(int communicator, int rank) const;

    void turn();
    void advance(int rank);
    void handle(int rank, const ckpt_message &message);
    void tell(int rank, ckpt_message_type type, std::uint32_t place, bool holds);
    void tell_place(int rank, ckpt_message_type type);
    bool is_unclocked(int rank) const;
    bool may_be_redone(int rank) const;
    bool enter(int rank);
    bool may_leave(int rank) const;
    void leave(int rank);
    bool all_needed_have_entered(int rank, const Step &step,
                                 std::uint64_t number) const;
    bool complete(int rank, std::size_t begun);
    void receive_or_wait(int rank);
    void complete_or_wait(int rank);
    void wait(int rank, bool over);
    void send(int rank, int to);
    void run_other_threads(int rank);
    bool drain_collectives(int rank);
    void drain(int rank);
    void do_actions();
    void check_clock(int communicator, int rank);
    void check_cut();
    void maybe_request();

    std::mt19937 random_;
    std::vector<std::vector<int>> members_; /* by communicator */
    std::vector<Rank> ranks_;
    /* Messages that the receiver's lower half can have, by [to][from]. */
    std::vector<std::vector<int>> network_;
    CutProtocol machine_;
    CutProtocol::Time now_{};
    std::uint64_t epoch_ = 0;
    std::vector<int> to_capture_;
    int requests_left_ = 6;
    bool at_once_ = false; /* request again as soon as possible */
    int committed_ = 0, given_up_ = 0, saved_inside_ = 0, runs_ordered_ = 0;
    int begun_again_ = 0;
    bool refuse_ = false;
    std::string error_;
};

} // namespace ckpt::test
