/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rows.cpp - the horizontal lines of a space-time diagram.
 */
#include "config.h"
#include "diagram/rows.hpp"

#include "diagram/style.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ckpt::diagram
{

namespace
{

constexpr double all_rows_height = 620;
constexpr double least_spacing = 11;
constexpr double most_spacing = 30;
constexpr std::size_t longest_host = 16;

/* Returns the drawn ranks by node, if the trace has several nodes; else all of
 * them under -1. */
std::map<int, std::vector<int>>
drawn_ranks(const CheckpointTrace &trace,
            const std::vector<RankHistory> &histories)
{
    std::size_t step = (histories.size() + Rows::most_ranks - 1) /
                       Rows::most_ranks;
    std::map<int, std::vector<int>> ranks;

    for (std::size_t i = 0; i < histories.size(); i += step) {
        int rank = histories[i].rank;
        int node = trace.nodes.size() > 1 ? trace.node_of(rank) : -1;
        ranks[node].push_back(rank);
    }
    return ranks;
}

/* Does not split a UTF-8 character. */
std::string short_host(const std::string &host)
{
    if (host.size() <= longest_host) {
        return host;
    }
    std::size_t end = longest_host - 2;
    while (end > 0 && (static_cast<unsigned char>(host[end]) & 0xc0) == 0x80) {
        end--;
    }
    return host.substr(0, end) + "..";
}

} // namespace

Rows::Rows(const CheckpointTrace &trace,
           const std::vector<RankHistory> &histories)
{
    add(Row::Kind::coordinator, 0, "coordinator");
    for (auto &[node, ranks] : drawn_ranks(trace, histories)) {
        std::string host = node < 0 ? "" : short_host(trace.nodes[node].host);
        bool together = ranks.size() == 1 && node >= 0;
        if (node >= 0) {
            by_node_[node] = rows_.size();
        }
        if (node >= 0 && !together) {
            add(Row::Kind::agent, node, host);
        }
        for (int rank : ranks) {
            by_rank_[rank] = rows_.size();
            add(Row::Kind::rank, rank,
                together ? fmt::format("{}, rank {}", host, rank)
                         : fmt::format("rank {}", rank));
        }
    }
    spacing_ = std::clamp(all_rows_height / static_cast<double>(rows_.size()),
                          least_spacing, most_spacing);
    for (std::size_t i = 0; i < rows_.size(); i++) {
        rows_[i].y = spacing_ * static_cast<double>(i);
    }
}

void Rows::add(Row::Kind kind, int number, std::string label)
{
    rows_.push_back({kind, number, std::move(label), 0});
}

const Row *Rows::of_rank(int rank) const
{
    auto found = by_rank_.find(rank);
    return found == by_rank_.end() ? nullptr : &rows_[found->second];
}

const Row *Rows::of_node(int node) const
{
    auto found = by_node_.find(node);
    return found == by_node_.end() ? nullptr : &rows_[found->second];
}

double Rows::label_size() const
{
    return std::min(style::text, spacing_ - 1.5);
}

double Rows::label_width() const
{
    double widest = 0;
    for (const Row &row : rows_) {
        widest = std::max(widest, text_width(row.label, label_size()));
    }
    return widest;
}

} // namespace ckpt::diagram
