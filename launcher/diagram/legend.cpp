/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * legend.cpp - explains the lines and colours of a space-time diagram.
 */
#include "config.h"
#include "diagram/legend.hpp"

#include "diagram/style.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace ckpt::diagram
{

namespace
{

constexpr double sign_width = 30;
constexpr double after_sign = 6;
constexpr double after_words = 18;
constexpr double line_height = 17;

bool has_kind(const CheckpointTrace &trace, TraceKind kind)
{
    return std::ranges::any_of(trace.events, [kind](const TraceEvent &event) {
        return event.kind == kind;
    });
}

/* Whether the diagram shows any message, between ranks or nodes, for which
 * `test` holds. */
template <typename Test>
bool is_drawn(const Scene &scene, Test test)
{
    return std::ranges::any_of(
        scene.trace.events, [&](const TraceEvent &event) {
            return test(event) && scene.ends_of(event).first != nullptr;
        });
}

} // namespace

Legend::Legend(const Scene &scene, double width)
    : width_(width)
{
    const CheckpointTrace &trace = scene.trace;

    if (has_kind(trace, TraceKind::stopped)) {
        add_bar("rank stands still", style::still);
    }
    if (has_kind(trace, TraceKind::captured)) {
        add_bar("from its cut until its memory is read", style::reading);
    }
    if (has_kind(trace, TraceKind::cut)) {
        add("the cut", [](Svg &svg, double x, double y) {
            svg.line({x, y}, {x + sign_width, y}, style::cut);
            svg.circle({x + sign_width / 2, y}, style::cut_radius,
                       style::cut.colour);
        });
    }
    add_control(scene);
    add_between_ranks(scene);
    if (has_kind(trace, TraceKind::written)) {
        add("node file safe", [](Svg &svg, double x, double y) {
            constexpr Stroke outline{style::ink, 1, ""};
            double middle = x + sign_width / 2;
            svg.polygon({{middle, y + 4}, {middle + 4, y - 4}, {middle - 4, y - 4}},
                        "#ffffff", &outline);
        });
    }
    if (has_kind(trace, TraceKind::commit)) {
        add_line("commit", style::commit);
    }
    place_entries();
}

void Legend::add(std::string words,
                 std::function<void(Svg &, double, double)> sign)
{
    entries_.push_back({std::move(words), std::move(sign), {}});
}

void Legend::add_line(std::string words, const Stroke &stroke)
{
    add(std::move(words), [stroke](Svg &svg, double x, double y) {
        svg.line({x, y}, {x + sign_width, y}, stroke);
    });
}

void Legend::add_arrow(std::string words, const Stroke &stroke, bool filled)
{
    add(std::move(words), [stroke, filled](Svg &svg, double x, double y) {
        svg.arrow({x, y}, {x + sign_width, y}, stroke, filled);
    });
}

void Legend::add_bar(std::string words, std::string_view colour)
{
    add(std::move(words), [colour](Svg &svg, double x, double y) {
        svg.rectangle({x, y - 5}, sign_width, 10, colour);
    });
}

void Legend::add_control(const Scene &scene)
{
    if (scene.rows.rank_count() <= most_ranks_with_arrows) {
        add_arrow("order of the coordinator", style::order, true);
        add_arrow("answer", style::answer, false);
        return;
    }
    auto head = [](double direction, std::string_view fill) {
        return [=](Svg &svg, double x, double y) {
            constexpr Stroke outline{style::order.colour, 0.7, ""};
            double middle = x + sign_width / 2;
            svg.polygon({{middle, y + 3 * direction},
                         {middle + 2, y - 3 * direction},
                         {middle - 2, y - 3 * direction}},
                        fill, &outline);
        };
    };
    add("order of the coordinator", head(1, style::order.colour));
    add("answer", head(-1, "#ffffff"));
}

void Legend::add_between_ranks(const Scene &scene)
{
    std::set<std::uint64_t> dimensions;
    auto logged = [](bool told) {
        return [told](const TraceEvent &event) {
            return event.kind == TraceKind::logged &&
                   (event.at != unknown_time) == told;
        };
    };
    auto marker = [](bool first_use) {
        return [first_use](const TraceEvent &event) {
            return event.kind == TraceKind::marker &&
                   event.first_use == first_use;
        };
    };

    if (is_drawn(scene, marker(false))) {
        add_arrow("marker with a count", style::marker, true);
    }
    if (is_drawn(scene, marker(true))) {
        add_arrow("marker of first use", style::first_use, false);
    }
    for (const TraceEvent &event : scene.trace.events) {
        if (event.kind == TraceKind::sweep) {
            dimensions.insert(event.value);
        }
    }
    for (std::uint64_t dimension : dimensions) {
        add_arrow(fmt::format("sweep, dimension {}", dimension),
                  style::sweep(dimension), true);
    }
    if (is_drawn(scene, logged(true))) {
        add_arrow("logged message", style::logged, true);
    }
    if (is_drawn(scene, logged(false))) {
        add_arrow("logged message, sent before its sender's cut",
                  style::logged_unsent, true);
    }
}

void Legend::place_entries()
{
    Point place{0, 0};

    for (Entry &entry : entries_) {
        double needed = sign_width + after_sign +
                        text_width(entry.words, style::text);
        if (place.x > 0 && place.x + needed > width_) {
            place = {0, place.y + line_height};
        }
        entry.place = place;
        place.x += needed + after_words;
    }
}

double Legend::height() const
{
    return entries_.empty() ? 0 : entries_.back().place.y + line_height;
}

void Legend::draw(Svg &svg, Point corner) const
{
    for (const Entry &entry : entries_) {
        double x = corner.x + entry.place.x;
        double y = corner.y + entry.place.y + line_height / 2;
        entry.sign(svg, x, y);
        svg.text({x + sign_width + after_sign, y + style::text / 3},
                 entry.words, {style::text, Anchor::start, style::ink});
    }
}

} // namespace ckpt::diagram
