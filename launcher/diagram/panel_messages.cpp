/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * panel_messages.cpp - draws the messages of a checkpoint: to and from the
 * coordinator, markers, sweep messages, and messages that crossed the cut.
 */
#include "config.h"
#include "diagram/panel.hpp"

#include "diagram/style.hpp"

#include <algorithm>

namespace ckpt::diagram
{

namespace
{

/* Thinner if there are many rows. */
Stroke weighted(Stroke stroke, const Rows &rows)
{
    constexpr double enough_room = 24;
    stroke.width *= std::clamp(rows.spacing() / enough_room, 0.45, 1.0);
    return stroke;
}

} // namespace

void Panel::draw_messages()
{
    for (const TraceEvent &event : scene_.trace.events) {
        switch (event.kind) {
        case TraceKind::order:
        case TraceKind::answer:
            draw_control(event);
            break;
        case TraceKind::marker:
        case TraceKind::sweep:
            draw_between(event);
            break;
        case TraceKind::logged:
            draw_logged(event);
            break;
        default:
            break;
        }
    }
}

/* Only the coordinator's time is known, so these are vertical. */
void Panel::draw_control(const TraceEvent &event)
{
    bool is_order = event.kind == TraceKind::order;
    const Row *row = scene_.rows.of_rank(is_order ? event.to : event.from);
    if (row == nullptr) {
        return;
    }
    Point end = at(*row, event.at);
    if (scene_.rows.rank_count() <= most_ranks_with_arrows) {
        Point start{end.x, first_row_};
        if (is_order) {
            svg_.arrow(start, end, style::order);
        } else {
            svg_.arrow(end, start, style::answer, false);
        }
        return;
    }
    double size = std::min(4.0, scene_.rows.spacing() * 0.3);
    double away = is_order ? -1.6 * size : 1.6 * size;
    constexpr Stroke outline{style::order.colour, 0.7, ""};
    svg_.polygon({end,
                  {end.x + size / 2, end.y + away},
                  {end.x - size / 2, end.y + away}},
                 is_order ? style::order.colour : "#ffffff", &outline);
}

void Panel::draw_between(const TraceEvent &event)
{
    auto [from, to] = scene_.ends_of(event);
    if (from == nullptr) {
        return;
    }
    Stroke stroke = event.kind == TraceKind::sweep ? style::sweep(event.value)
                    : event.first_use              ? style::first_use
                                                   : style::marker;
    /* If the time is known at only one end, draws a stub there. */
    double stub = scene_.rows.spacing() * (from->y < to->y ? 0.5 : -0.5);
    Point start = at(*from, event.time());
    Point end = at(*to, event.time());
    if (event.arrived == unknown_time) {
        end = {start.x + style::stub_width, start.y + stub};
    } else if (event.at == unknown_time) {
        start = {end.x - style::stub_width, end.y - stub};
    } else {
        end = at(*to, event.arrived);
    }
    svg_.arrow(start, end, weighted(stroke, scene_.rows), !event.first_use);
}

/* If the send time is unknown, the line starts a little before the sender's
 * cut, which is the latest possible time. */
void Panel::draw_logged(const TraceEvent &event)
{
    auto [from, to] = scene_.ends_of(event);
    if (from == nullptr || event.arrived == unknown_time) {
        return;
    }
    std::int64_t sent = event.at;
    if (sent == unknown_time) {
        const RankHistory *sender = scene_.of_rank(event.from);
        sent = sender == nullptr || sender->cut == unknown_time
                   ? event.arrived
                   : std::min(sender->cut, event.arrived);
    }
    Point start = at(*from, sent);
    start.x -= event.at == unknown_time ? style::before_cut : 0;
    Point end = at(*to, event.arrived);
    svg_.arrow(start, end,
               weighted(event.at == unknown_time ? style::logged_unsent
                                                 : style::logged,
                        scene_.rows));
    double half = style::log_half_side;
    svg_.rectangle({end.x - half, end.y - half}, 2 * half, 2 * half,
                   style::logged_colour);
}

} // namespace ckpt::diagram
