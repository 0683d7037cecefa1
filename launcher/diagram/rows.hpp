/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rows.hpp - the horizontal lines of a space-time diagram: the coordinator, the
 * nodes if there are several, and the ranks, not more than can be told apart.
 */
#pragma once

#include "diagram/rank_history.hpp"

#include <map>
#include <string>
#include <vector>

namespace ckpt::diagram
{

struct Row {
    enum class Kind { coordinator, agent, rank };

    Kind kind;
    int number; /* of the rank or node */
    std::string label;
    double y; /* from the first row */
};

class Rows
{
  public:
    static constexpr std::size_t most_ranks = 64;

    /* Of more ranks than that every second, third, ... is drawn. */
    Rows(const CheckpointTrace &trace,
         const std::vector<RankHistory> &histories);

    const std::vector<Row> &all() const { return rows_; }
    /* Null if it is not drawn. A node's is its agent, or its only rank. */
    const Row *of_rank(int rank) const;
    const Row *of_node(int node) const;

    int rank_count() const { return static_cast<int>(by_rank_.size()); }
    double spacing() const { return spacing_; }
    double height() const { return rows_.back().y; }
    double label_width() const;
    double label_size() const;

  private:
    void add(Row::Kind kind, int number, std::string label);

    std::vector<Row> rows_;
    std::map<int, std::size_t> by_rank_;
    std::map<int, std::size_t> by_node_;
    double spacing_ = 0;
};

} // namespace ckpt::diagram
