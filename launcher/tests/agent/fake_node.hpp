/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake_node.hpp - a node that does nothing, and records the orders of the coordinator.
 */
#pragma once

#include "agent/messages/node.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ckpt::test
{

class FakeNode : public Node
{
  public:
    explicit FakeNode(std::string host)
        : host_(std::move(host)) {}

    /* What a test reads. */
    std::vector<std::pair<std::filesystem::path, RankSnapshots>> captures;
    std::vector<std::pair<action::Send, std::uint64_t>> sent_orders; /* with the epoch */

    /* What a test sets. */
    FileSystem storage;
    std::map<int, int> memories;                          /* by rank */
    std::map<std::pair<int, int>, std::uint64_t> sent_to; /* by rank and peer */
    std::map<std::pair<int, int>, std::uint64_t> has_of;  /* by rank and peer */
    std::map<int, std::vector<ckpt_clock>> clocks_of;     /* by rank */
    std::string place;

    const std::string &host() const override { return host_; }
    const std::string &address() const override { return place; }
    const std::string &blocks() const override { return place; }
    FileSystem file_system() const override { return storage; }
    int memory_of(int rank) const override { return value(memories, rank); }
    void send(const action::Send &order, std::uint64_t epoch) override
    {
        sent_orders.emplace_back(order, epoch);
    }
    void capture(const std::filesystem::path &directory, const RankSnapshots &snapshots) override
    {
        captures.emplace_back(directory, snapshots);
    }
    std::vector<ckpt_clock> clocks(int rank) const override { return value(clocks_of, rank); }
    std::uint64_t sent(int rank, int peer) const override
    {
        return value(sent_to, std::pair(rank, peer));
    }
    std::uint64_t received(int rank, int peer) const override
    {
        return value(has_of, std::pair(rank, peer));
    }

    void set_targets(int, const std::vector<std::uint64_t> &) override {}
    void set_expected(int, const std::vector<std::uint64_t> &) override {}
    void open_piece(const std::filesystem::path &) override {}
    void add_to_piece(int, std::uint64_t) override {}
    void close_piece(const std::vector<int> &) override {}
    void set_sweep_plan(const SweepPlan &) override {}
    void open_sweep(std::uint64_t) override {}
    std::uint64_t saved(const std::filesystem::path &) const override { return 0; }
    void undo() override {}
    void pause_protection(const std::string &) override {}
    void committed(std::uint64_t) override {}
    void copy_piece(const std::filesystem::path &, const std::filesystem::path &,
                    const Piece &) override {}
    void write_redundancy(const RedundancyOrder &) override {}
    void discard(const std::filesystem::path &, std::uint64_t,
                 const std::set<std::uint64_t> &) override {}
    void kill() override {}
    RankSeen seen(int, std::uint64_t) const override { return {}; }

  private:
    template <class Map>
    static typename Map::mapped_type value(const Map &map, const typename Map::key_type &key)
    {
        const auto found = map.find(key);
        return found == map.end() ? typename Map::mapped_type() : found->second;
    }

    const std::string host_;
};

} // namespace ckpt::test
