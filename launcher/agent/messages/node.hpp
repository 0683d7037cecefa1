/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node.hpp - the ranks of one node, as the coordinator sees them. The node is
 * the coordinator's own (LocalNode) or has another agent (RemoteNode).
 */
#pragma once

#include "agent/links/clock_probe.hpp"
#include "agent/messages/file_system.hpp"
#include "agent/messages/rank_seen.hpp"
#include "agent/messages/redundancy_order.hpp"
#include "agent/messages/sweep_plan.hpp"
#include "image/model/fault_summary.hpp"
#include "image/store/manifest.hpp"
#include "protocol/cut/actions.hpp"
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

/* The piece that a node has written. */
struct WrittenPiece {
    Piece piece;
    std::uint64_t memory = 0; /* bytes mapped by the ranks in it */
    int standing = 0;         /* ranks that were stopped until they were saved, though another
                                 method was requested */
    FaultSummary faults{};    /* of ranks that ran on (cll) */
};

/* Orders of the coordinator. All ranks are ranks of the job on this node. */
class Node
{
  public:
    virtual ~Node() = default;

    virtual const std::string &host() const = 0;
    /* Address of the node's agent for agents of other nodes: PeerAddress::place(). */
    virtual const std::string &address() const = 0;

    virtual void set_targets(int rank,
                             const std::vector<std::uint64_t> &targets) = 0;
    virtual void set_expected(int rank,
                              const std::vector<std::uint64_t> &expected) = 0;
    virtual void send(const action::Send &order, std::uint64_t epoch) = 0;

    /* The file system with the node's directory of checkpoints. */
    virtual FileSystem file_system() const = 0;
    /* The NUMA node next to the processor that a rank ran on when it connected: from 0. */
    virtual int memory_of(int rank) const = 0;

    /* Saves ranks, in this order, into one file in `directory`. Reports
     * captured() for each rank and then written(); or failed(). */
    virtual void capture(const std::filesystem::path &directory,
                         const RankSnapshots &snapshots) = 0;

    /*
     * Saves rank by rank, while others run. open_piece() makes `directory` if
     * necessary before it returns, so that a rank that gets CUT afterwards can
     * write its log there (message_log_path()). add_to_piece() saves a stopped
     * rank, in the order of the calls, and reports captured(). close_piece()
     * puts the logs of `ranks` into the file, removes them, and reports
     * written(). A missing log counts as empty. An error at any time is
     * reported once as failed(), and no event of the piece follows. It is also
     * an error if a rank shares memory with another one and so cannot be saved
     * alone. Logs stay until undo().
     */
    virtual void open_piece(const std::filesystem::path &directory) = 0;
    virtual void add_to_piece(int rank, std::uint64_t snapshot) = 0;
    virtual void close_piece(const std::vector<int> &ranks) = 0;

    /*
     * The node's part in the sweep of an epoch. The coordinator opens it before the ranks get CUT;
     * the node reports sweep_opened() or sweep_failed(). When all ranks of the node have been cut,
     * the node sweeps. Then it sends each rank the number of messages that all ranks have sent to
     * it (SWEPT). The coordinator sends the plan first, and again when ranks have moved.
     */
    virtual void set_sweep_plan(const SweepPlan &plan) = 0;
    virtual void open_sweep(std::uint64_t epoch) = 0;

    /* Bytes of memory that the node has put into its file in `directory` so far, as far as known
     * here. */
    virtual std::uint64_t saved(const std::filesystem::path &directory) const = 0;

    /* Stops capture(), or the work begun by open_piece(). Removes the
     * written files and the logs of the ranks. Reports undone(), and no
     * other event of that piece afterwards. */
    virtual void undo() = 0;
    /* A program's action has made a checkpoint fail whose ranks were protected (cll). No rank is
     * protected in the next one. */
    virtual void pause_protection(const std::string &reason) = 0;
    /* The checkpoint that contains the node's last piece is committed. */
    virtual void committed(std::uint64_t number) = 0;
    /* Copies a piece from one directory of a checkpoint to another one, in the background;
     * reports copied(). */
    virtual void copy_piece(const std::filesystem::path &from,
                            const std::filesystem::path &to, const Piece &piece) = 0;
    /* Address at which other nodes can read its pieces: PeerAddress::place(); empty: none. */
    virtual const std::string &blocks() const = 0;
    /* Writes the data that can replace lost pieces of other nodes, in the
     * background; reports redundancy_written(). */
    virtual void write_redundancy(const RedundancyOrder &order) = 0;
    /* Removes checkpoints with numbers below `end`, except those in `stay`, from the directory
     * of the job, which only this node sees. */
    virtual void discard(const std::filesystem::path &job, std::uint64_t end,
                         const std::set<std::uint64_t> &stay) = 0;
    virtual void kill() = 0;
    /* The salvage that began with proxy_here() is over. number: of the checkpoint; 0: none, and
     * `why` gives the reason. */
    virtual void salvage_over(std::uint64_t /*number*/, const Refusal & /*why*/) {}

    /* Values of the rank's page. */
    virtual std::vector<ckpt_clock> clocks(int rank) const = 0;
    virtual std::uint64_t sent(int rank, int peer) const = 0;
    virtual std::uint64_t received(int rank, int peer) const = 0;
    /* Valid when the rank has sent LOGGED, in the checkpoint `epoch`. */
    virtual RankSeen seen(int rank, std::uint64_t epoch) const = 0;

    /* The page of ranks with independent checkpoints, which are all on this node; nothing: there
     * is no such page. */
    virtual std::optional<IndependentState> independent() const { return std::nullopt; }

    /* Measures the offset between the node's clock and ours. clock() returns
     * it some messages later; for the coordinator's own node it is 0. */
    virtual void compare_clocks() {}
    virtual ClockOffset clock() const { return {}; }
};

/* Events on a node. */
class NodeEvents
{
  public:
    virtual ~NodeEvents() = default;

    /* If the rank's channels are open after a cut, sent() and received() are the counts of that
     * cut. */
    virtual void rank_here(Node &node, int rank, int rank_count, pid_t pid,
                           const RankCut &cut) = 0;
    virtual void rank_said(int rank, const ckpt_message &message) = 0;
    virtual void rank_finished(int rank) = 0; /* the rank has called MPI_Finalize */
    virtual void rank_gone(int rank) = 0;
    /* The rank, which has gone, can be replayed: the node answers in its place until
     * salvage_over(). All other ranks are on this node, so the coordinator is as well; only the
     * coordinator handles this. `cut` as in rank_here(). */
    virtual void proxy_here(Node & /*node*/, int /*rank*/, const RankCut & /*cut*/) {}

    virtual void captured(int rank) = 0;
    virtual void written(Node &node, const WrittenPiece &written) = 0;
    virtual void failed(const Refusal &reason) = 0;
    /* Like failed(), but the cause is gone, so another attempt may succeed at once. */
    virtual void failed_once(const Refusal &reason) = 0;
    /* The node's piece of a committed checkpoint can be replaced by this one, which needs no
     * other piece. */
    virtual void folded(Node &node, std::uint64_t number, const Piece &piece) = 0;
    /* copy_piece() is over. error: why nothing was copied, or "". */
    virtual void copied(Node &node, const std::string &file, const std::string &error) = 0;
    /* write_redundancy() is over. error: why nothing was written, or "". */
    virtual void redundancy_written(Node &node, std::uint64_t number,
                                    const std::string &error) = 0;
    virtual void sweep_opened(Node &node) = 0;
    virtual void sweep_failed(Node &node, const std::string &reason) = 0;
    virtual void undone(Node &node) = 0;
};

} // namespace ckpt
