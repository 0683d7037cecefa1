/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node.hpp - one node's ranks as the coordinator sees them, whether they are
 * on its own node (LocalNode) or behind another agent (RemoteNode).
 */
#pragma once

#include "agent/clock_probe.hpp"
#include "agent/file_system.hpp"
#include "agent/rank_seen.hpp"
#include "agent/redundancy_order.hpp"
#include "agent/sweep_plan.hpp"
#include "image/fault_summary.hpp"
#include "image/manifest.hpp"
#include "protocol/actions.hpp"
#include "protocol/rank_cut.hpp"
#include "protocol/replayability.hpp"

#include "ckpt/wire.h"

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ckpt
{

/* Ranks with the addresses of their snapshots. */
using RankSnapshots = std::vector<std::pair<int, std::uint64_t>>;

/* What a node has written. */
struct WrittenPiece {
    Piece piece;
    std::uint64_t memory = 0; /* bytes mapped by the ranks in it */
    int standing = 0;         /* ranks that stood still until they were saved, though
                                 another method was asked for */
    FaultSummary faults{};    /* of ranks that went on (cll) */
};

/* Orders of the coordinator. Ranks are those of the job and on this node. */
class Node
{
  public:
    virtual ~Node() = default;

    virtual const std::string &host() const = 0;
    /* Where agents of other nodes find its agent: PeerAddress::place(). */
    virtual const std::string &address() const = 0;

    virtual void set_targets(int rank,
                             const std::vector<std::uint64_t> &targets) = 0;
    virtual void set_expected(int rank,
                              const std::vector<std::uint64_t> &expected) = 0;
    virtual void send(const action::Send &order, std::uint64_t epoch) = 0;

    /* Where it writes: the one with the directory of checkpoints. */
    virtual FileSystem file_system() const = 0;
    /* The NUMA node beside which a rank ran when it came: from 0. */
    virtual int memory_of(int rank) const = 0;

    /* Saves ranks, in this order, into one file in `directory`. Tells
     * captured() for each, then written(); or failed(). */
    virtual void capture(const std::filesystem::path &directory,
                         const RankSnapshots &snapshots) = 0;

    /*
     * The same rank by rank, while others run. open_piece() makes `directory`
     * if need be before it returns, so that a rank that is told afterwards can
     * write its log there (message_log_path()). add_to_piece() saves a stopped
     * rank, in the order of the calls, and tells captured(). close_piece() puts
     * the logs of `ranks` into the file (one that is not there is empty),
     * removes them, and tells written().
     * What goes wrong at any time, also when a rank shares memory with another
     * one and so cannot be saved alone, is told once as failed(); nothing more
     * is told of the piece then. Logs stay until undo().
     */
    virtual void open_piece(const std::filesystem::path &directory) = 0;
    virtual void add_to_piece(int rank, std::uint64_t snapshot) = 0;
    virtual void close_piece(const std::vector<int> &ranks) = 0;

    /*
     * The node's part in the sweep of an epoch: opened before its ranks are told
     * CUT, which tells sweep_opened() or sweep_failed(). When all its ranks have
     * been cut it sweeps, and tells each how many messages have been sent to it
     * (SWEPT). The plan comes first, and again when ranks have moved.
     */
    virtual void set_sweep_plan(const SweepPlan &plan) = 0;
    virtual void open_sweep(std::uint64_t epoch) = 0;

    /* Bytes of memory that it has put into its file in `directory` so far, as far as is known
     * here. */
    virtual std::uint64_t saved(const std::filesystem::path &directory) const = 0;

    /* Stops capture(), or what was begun by open_piece(), and removes what it
     * wrote and the logs of its ranks; tells undone(), and nothing else of it
     * any more. */
    virtual void undo() = 0;
    /* What a program did has made a checkpoint fail whose ranks were protected (cll): none is
     * in the next one. */
    virtual void pause_protection(const std::string &reason) = 0;
    /* The checkpoint exists that its last piece is in. */
    virtual void committed(std::uint64_t number) = 0;
    /* Copies a piece from one directory of a checkpoint to another one, in the background;
     * tells copied(). */
    virtual void copy_piece(const std::filesystem::path &from,
                            const std::filesystem::path &to, const Piece &piece) = 0;
    /* Where other nodes can read its pieces: PeerAddress::place(); empty: nowhere. */
    virtual const std::string &blocks() const = 0;
    /* Writes what can stand in for pieces of others, in the background; tells
     * redundancy_written(). */
    virtual void write_redundancy(const RedundancyOrder &order) = 0;
    /* Removes from the directory of the job, which nobody else sees, the checkpoints with
     * numbers below `end` but those that stay. */
    virtual void discard(const std::filesystem::path &job, std::uint64_t end,
                         const std::set<std::uint64_t> &stay) = 0;
    virtual void kill() = 0;
    /* What began with ghost_here() is over. number: of the checkpoint; 0: there is none, and
     * why. */
    virtual void salvage_over(std::uint64_t /*number*/, const std::string & /*why*/) {}

    /* From the rank's page. */
    virtual std::vector<ckpt_clock> clocks(int rank) const = 0;
    virtual std::uint64_t sent(int rank, int peer) const = 0;
    virtual std::uint64_t received(int rank, int peer) const = 0;
    /* When it has told LOGGED, in the checkpoint `epoch`. */
    virtual RankSeen seen(int rank, std::uint64_t epoch) const = 0;

    /* The page of ranks with independent checkpoints, all of which are on this node;
     * nothing: there are none. */
    virtual std::optional<IndependentState> independent() const { return std::nullopt; }

    /* Measures how far the node's clock is from ours, which clock() tells some
     * messages later. Our own is ours. */
    virtual void compare_clocks() {}
    virtual ClockOffset clock() const { return {}; }
};

/* What happens on a node. */
class NodeEvents
{
  public:
    virtual ~NodeEvents() = default;

    /* For an open rank, sent() and received() are those of its cut. */
    virtual void rank_here(Node &node, int rank, int rank_count, pid_t pid,
                           const RankCut &cut) = 0;
    virtual void rank_said(int rank, const ckpt_message &message) = 0;
    virtual void rank_finished(int rank) = 0; /* MPI_Finalize */
    virtual void rank_gone(int rank) = 0;
    /* The rank, which has gone, can be replayed: the node answers in its place until
     * salvage_over(). All others are on this node, so the coordinator is, who alone has to
     * deal with it. `cut` as in rank_here(). */
    virtual void ghost_here(Node & /*node*/, int /*rank*/, const RankCut & /*cut*/) {}

    virtual void captured(int rank) = 0;
    virtual void written(Node &node, const WrittenPiece &written) = 0;
    virtual void failed(const std::string &reason) = 0;
    /* As failed(); but the cause is gone, and the same may go well at once. */
    virtual void failed_once(const std::string &reason) = 0;
    /* The node's piece of a checkpoint that exists can be replaced by this one, which
     * needs no other. */
    virtual void folded(Node &node, std::uint64_t number, const Piece &piece) = 0;
    /* copy_piece() is over. error: why nothing was copied; or empty */
    virtual void copied(Node &node, const std::string &file, const std::string &error) = 0;
    /* write_redundancy() is over. error: why there is none; or empty */
    virtual void redundancy_written(Node &node, std::uint64_t number,
                                    const std::string &error) = 0;
    virtual void sweep_opened(Node &node) = 0;
    virtual void sweep_failed(Node &node, const std::string &reason) = 0;
    virtual void undone(Node &node) = 0;
};

} // namespace ckpt
