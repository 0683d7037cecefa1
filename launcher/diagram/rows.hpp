/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rows.hpp - the horizontal lines of a space-time diagram: the coordinator, the
 * nodes if there are several, and as many ranks as remain distinguishable.
 */
#pragma once

#include "diagram/rank_history.hpp"

#include <map>
#include <string>
#include <vector>

namespace ckpt::diagram
{

struct Row {
    enum class Kind {
        coordinator,
        agent,
        rank
    };

    Kind kind;
    int number; /* number of the rank or node */
    std::string label;
    double y; /* relative to the first row */
};

class Rows
{
  public:
    static constexpr std::size_t most_ranks = 64;

    /* If there are more ranks, draws every second, third, ... rank. */
    Rows(const CheckpointTrace &trace,
         const std::vector<RankHistory> &histories);

    const std::vector<Row> &all() const { return rows_; }
    /* Return null if the row is not drawn. The row of a node is its agent's, or
     * that of its only rank. */
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
