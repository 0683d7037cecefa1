/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * panel.hpp - one span of time of a checkpoint: rows, the time axis, the stops
 * of ranks, the cut, and the messages.
 */
#pragma once

#include "diagram/rank_history.hpp"
#include "diagram/rows.hpp"
#include "diagram/svg.hpp"
#include "diagram/time_axis.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ckpt::diagram
{

/* The data to draw; the same for all panels. */
struct Scene {
    explicit Scene(const CheckpointTrace &trace);

    const CheckpointTrace &trace; /* must outlive this object */
    std::vector<RankHistory> histories;
    Rows rows;
    std::int64_t end; /* of the trace */

    /* Returns the history of a rank; null if it has no events. */
    const RankHistory *of_rank(int rank) const;
    /* Returns the rows of both ends of a marker, a sweep message or a logged
     * message; nulls if an end is not drawn. */
    std::pair<const Row *, const Row *> ends_of(const TraceEvent &event) const;
};

/* Up to this number of ranks, orders and answers are drawn as arrows; beyond
 * it, as small heads. */
inline constexpr int most_ranks_with_arrows = 8;

class Panel
{
  public:
    /* `axis` defines the times and their positions; `top` is above the heading,
     * if any. `magnified` is shaded, because another panel enlarges it. */
    Panel(Svg &svg, const Scene &scene, TimeAxis axis, double top,
          std::string heading,
          std::optional<std::pair<std::int64_t, std::int64_t>> magnified);

    static double height(const Rows &rows, bool has_heading);

    void draw();

  private:
    double y(const Row &row) const { return first_row_ + row.y; }
    double bottom() const;
    Point at(const Row &row, std::int64_t time) const;

    void draw_background();
    void draw_axis();
    void draw_labels();
    void draw_rows();
    void draw_stops();
    void draw_cut();
    void draw_files();
    void draw_names();
    std::vector<std::pair<std::int64_t, std::string>> names() const;

    /* panel_messages.cpp */
    void draw_messages();
    void draw_control(const TraceEvent &event);
    void draw_between(const TraceEvent &event);
    void draw_logged(const TraceEvent &event);

    Svg &svg_;
    const Scene &scene_;
    TimeAxis axis_;
    std::string heading_;
    double top_; /* below the heading */
    double first_row_;
    std::optional<std::pair<std::int64_t, std::int64_t>> magnified_;
};

} // namespace ckpt::diagram
