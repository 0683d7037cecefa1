/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * panel.cpp - one span of time: rows, the axis, stops and the cut.
 */
#include "config.h"
#include "diagram/panel.hpp"

#include "common/invariant.hpp"
#include "diagram/style.hpp"

#include <algorithm>
#include <set>

namespace ckpt::diagram
{

namespace
{

constexpr double heading_height = 18; /* if there is one */
constexpr double heading_base = 12;
constexpr double names_base = 12; /* from below the heading */
constexpr double first_row = 28;
constexpr double above_rows = 12; /* lines extend so far above the rows */
constexpr double below_rows = 44; /* space for the axis */
constexpr double name_gap = 7;
constexpr double tick_length = 4;

} // namespace

Scene::Scene(const CheckpointTrace &trace)
    : trace(trace), histories(rank_histories(trace)), rows(trace, histories),
      end(std::max<std::int64_t>(1, end_of(trace)))
{
    CKPT_INVARIANT(std::ranges::is_sorted(histories, {}, &RankHistory::rank));
}

const RankHistory *Scene::of_rank(int rank) const
{
    auto found =
        std::ranges::lower_bound(histories, rank, {}, &RankHistory::rank);
    return found == histories.end() || found->rank != rank ? nullptr : &*found;
}

std::pair<const Row *, const Row *>
Scene::ends_of(const TraceEvent &event) const
{
    bool nodes = event.kind == TraceKind::sweep;
    const Row *from = nodes ? rows.of_node(event.from)
                            : rows.of_rank(event.from);
    const Row *to = nodes ? rows.of_node(event.to) : rows.of_rank(event.to);
    if (from == nullptr || to == nullptr) {
        return {nullptr, nullptr};
    }
    return {from, to};
}

Panel::Panel(Svg &svg, const Scene &scene, TimeAxis axis, double top,
             std::string heading,
             std::optional<std::pair<std::int64_t, std::int64_t>> magnified)
    : svg_(svg), scene_(scene), axis_(axis), heading_(std::move(heading)),
      top_(heading_.empty() ? top : top + heading_height),
      first_row_(top_ + first_row), magnified_(magnified)
{
}

double Panel::height(const Rows &rows, bool has_heading)
{
    return (has_heading ? heading_height : 0) + first_row + rows.height() +
           below_rows;
}

double Panel::bottom() const
{
    return first_row_ + scene_.rows.height() + scene_.rows.spacing() / 2;
}

Point Panel::at(const Row &row, std::int64_t time) const
{
    return {axis_.x(time), y(row)};
}

void Panel::draw()
{
    double above = first_row_ - above_rows;

    if (!heading_.empty()) {
        svg_.text({axis_.left(), top_ - heading_height + heading_base},
                  heading_, {style::text, Anchor::start, style::ink, true});
    }
    draw_background();
    draw_axis();
    draw_labels();
    svg_.begin_clip({axis_.left(), above}, axis_.right() - axis_.left(),
                    bottom() - above);
    draw_rows();
    draw_stops();
    draw_messages();
    draw_cut();
    draw_files();
    svg_.end_clip();
    draw_names();
}

void Panel::draw_background()
{
    if (magnified_) {
        double left = axis_.x(std::max(magnified_->first, axis_.from()));
        double right = axis_.x(std::min(magnified_->second, axis_.to()));
        svg_.rectangle({left, first_row_ - above_rows}, right - left,
                       bottom() - first_row_ + above_rows, style::magnified);
    }
    for (const TimeAxis::Tick &tick : axis_.ticks()) {
        double x = axis_.x(tick.time);
        svg_.line({x, first_row_ - above_rows}, {x, bottom()}, style::grid);
    }
}

void Panel::draw_axis()
{
    double base = bottom();
    TextStyle label{style::small_text, Anchor::middle, style::ink};

    svg_.line({axis_.left(), base}, {axis_.right(), base}, style::axis);
    for (const TimeAxis::Tick &tick : axis_.ticks()) {
        double x = axis_.x(tick.time);
        svg_.line({x, base}, {x, base + tick_length}, style::axis);
        svg_.text({x, base + 14}, tick.label, label);
    }
    label.anchor = Anchor::end;
    svg_.text({axis_.right(), base + 26},
              std::string("time since the request [") + axis_.unit() + "]",
              label);
}

void Panel::draw_labels()
{
    double size = scene_.rows.label_size();

    for (const Row &row : scene_.rows.all()) {
        svg_.text({axis_.left() - 8, y(row) + size / 3}, row.label,
                  {size, Anchor::end, style::ink,
                   row.kind != Row::Kind::rank});
    }
}

void Panel::draw_rows()
{
    for (const Row &row : scene_.rows.all()) {
        svg_.line({axis_.left(), y(row)}, {axis_.right(), y(row)},
                  row.kind == Row::Kind::rank ? style::life
                                              : style::agent_life);
    }
}

/* Draws stops: light while a rank is stopped, dark from its cut until it has
 * been read. */
void Panel::draw_stops()
{
    double half = std::min(6.0, scene_.rows.spacing() * 0.32);

    for (const RankHistory &history : scene_.histories) {
        const Row *row = scene_.rows.of_rank(history.rank);
        if (row == nullptr) {
            continue;
        }
        auto bar = [&](std::int64_t from, std::int64_t to,
                       std::string_view colour) {
            svg_.rectangle({axis_.x(from), y(*row) - half},
                           axis_.x(to) - axis_.x(from), 2 * half, colour);
        };
        for (const RankHistory::Stop &stop : history.stops) {
            bar(stop.from, stop.to == unknown_time ? scene_.end : stop.to,
                style::still);
        }
        if (history.cut != unknown_time && history.captured != unknown_time) {
            bar(history.cut, history.captured, style::reading);
        }
    }
}

void Panel::draw_cut()
{
    std::vector<Point> points;

    for (const Row &row : scene_.rows.all()) {
        const RankHistory *history = row.kind == Row::Kind::rank
                                         ? scene_.of_rank(row.number)
                                         : nullptr;
        if (history != nullptr && history->cut != unknown_time) {
            points.push_back(at(row, history->cut));
        }
    }
    if (points.empty()) {
        return;
    }
    /* Extends the line a little beyond the first and last row, to make it
     * visible. */
    double reach = scene_.rows.spacing() * 0.45;
    points.insert(points.begin(), {points.front().x, points.front().y - reach});
    points.push_back({points.back().x, points.back().y + reach});
    svg_.polyline(points, style::cut);
    double radius = std::min(style::cut_radius, scene_.rows.spacing() / 4);
    for (std::size_t i = 1; i + 1 < points.size(); i++) {
        svg_.circle(points[i], radius, style::cut.colour);
    }
}

/* Draws node files on the coordinator's row, and the commit. */
void Panel::draw_files()
{
    constexpr Stroke outline{style::ink, 1, ""};

    for (const TraceEvent &event : scene_.trace.events) {
        double x = axis_.x(event.time());
        if (event.kind == TraceKind::written) {
            svg_.polygon({{x, first_row_ + 1},
                          {x + 4, first_row_ - 7},
                          {x - 4, first_row_ - 7}},
                         "#ffffff", &outline);
        } else if (event.kind == TraceKind::commit) {
            svg_.line({x, first_row_ - above_rows}, {x, bottom()}, style::commit);
        }
    }
}

/* Returns the labels above the rows: the time when each kind of order was first
 * sent. */
std::vector<std::pair<std::int64_t, std::string>> Panel::names() const
{
    std::vector<std::pair<std::int64_t, std::string>> found;
    std::set<std::uint16_t> seen;

    for (const TraceEvent &event : scene_.trace.events) {
        bool elsewhere = magnified_ && event.at >= magnified_->first &&
                         event.at <= magnified_->second;
        if (event.kind == TraceKind::order && seen.insert(event.type).second &&
            axis_.has(event.at) && !elsewhere) {
            CKPT_INVARIANT(message_format(event.type) != nullptr);
            found.emplace_back(event.at, message_format(event.type)->name);
        } else if (event.kind == TraceKind::commit && axis_.has(event.at)) {
            found.emplace_back(event.at, "commit");
        }
    }
    return found;
}

void Panel::draw_names()
{
    auto all = names();
    std::vector<double> lefts;
    double free = axis_.left();
    for (auto &[time, name] : all) {
        lefts.push_back(std::max(free, axis_.x(time)));
        free = lefts.back() + text_width(name, style::small_text) + name_gap;
    }
    double right = axis_.right();
    for (std::size_t i = all.size(); i-- > 0;) { /* from right to left */
        double width = text_width(all[i].second, style::small_text);
        lefts[i] = std::min(lefts[i], right - width);
        right = lefts[i] - name_gap;
    }
    for (std::size_t i = 0; i < all.size(); i++) {
        double x = axis_.x(all[i].first);
        double width = text_width(all[i].second, style::small_text);
        double under = std::clamp(x, lefts[i] + 3, lefts[i] + width - 3);
        svg_.text({lefts[i], top_ + names_base}, all[i].second,
                  {style::small_text, Anchor::start, style::pale_ink});
        svg_.line({under, top_ + names_base + 2}, {x, first_row_ - 2},
                  style::order);
    }
}

} // namespace ckpt::diagram
