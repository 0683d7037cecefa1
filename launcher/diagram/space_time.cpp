/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * space_time.cpp - the space-time diagram of a checkpoint: title, panels,
 * legend and notes.
 */
#include "config.h"
#include "diagram/space_time.hpp"

#include "common/durations.hpp"
#include "diagram/legend.hpp"
#include "diagram/panel.hpp"
#include "diagram/style.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ckpt::diagram
{

namespace
{

constexpr double width = 960;
constexpr double margin = 18;
constexpr double title_base = 28;
constexpr double first_panel = 60;
constexpr double panel_gap = 10;
constexpr double note_height = 14;
constexpr double above_legend = 8;
/* The initial part gets its own panel if it takes at most this fraction of the
 * whole time. */
constexpr double small_part = 0.45;

using Span = std::pair<std::int64_t, std::int64_t>;

/* Returns the time of the last cut or of the last message between ranks or
 * nodes, whichever is later. */
std::int64_t end_of_exchange(const CheckpointTrace &trace)
{
    std::int64_t end = 0;
    for (const TraceEvent &event : trace.events) {
        switch (event.kind) {
        case TraceKind::cut:
        case TraceKind::marker:
        case TraceKind::sweep:
        case TraceKind::logged:
            end = std::max({end, event.at, event.arrived});
            break;
        default:
            break;
        }
    }
    return end;
}

/* Adds a margin on both sides. */
Span widened(std::int64_t end)
{
    std::int64_t room = std::max<std::int64_t>(1, end / 40);
    return {-room, end + room};
}

/* Returns notes about parts that the diagram leaves out. */
std::vector<std::string> notes(const Scene &scene)
{
    const CheckpointTrace &trace = scene.trace;
    std::vector<std::string> notes;
    std::uint64_t hidden = 0;
    std::int64_t clock_error = 0;

    for (const TraceEvent &event : trace.events) {
        bool between = event.kind == TraceKind::marker ||
                       event.kind == TraceKind::sweep ||
                       event.kind == TraceKind::logged;
        hidden += between && scene.ends_of(event).first == nullptr ? 1 : 0;
    }
    for (const TraceNode &node : trace.nodes) {
        clock_error = std::max(clock_error, node.clock_error);
    }
    if (scene.rows.rank_count() < trace.rank_count) {
        notes.push_back(fmt::format("{} of {} ranks are drawn.",
                                    scene.rows.rank_count(),
                                    trace.rank_count));
    }
    if (hidden > 0) {
        notes.push_back(fmt::format(
            "{} message{} from or to others {} not.", hidden,
            hidden == 1 ? "" : "s", hidden == 1 ? "is" : "are"));
    }
    if (trace.left_out > 0) {
        notes.push_back(fmt::format("{} events were too many to be kept.",
                                    trace.left_out));
    }
    if (clock_error > 0) {
        notes.push_back(fmt::format(
            "Clocks of the nodes agree within {}.",
            format_seconds(static_cast<double>(clock_error) * 1e-9)));
    }
    return notes;
}

std::string joined(const std::vector<std::string> &sentences)
{
    std::string text;
    for (const std::string &sentence : sentences) {
        text += (text.empty() ? "" : " ") + sentence;
    }
    return text;
}

class Figure
{
  public:
    explicit Figure(const CheckpointTrace &trace)
        : scene_(trace), left_(margin + scene_.rows.label_width() + 10),
          legend_(scene_, width - left_ - margin),
          notes_(joined(notes(scene_))),
          exchange_(widened(end_of_exchange(trace))),
          is_split_(static_cast<double>(exchange_.second) <=
                    small_part * static_cast<double>(scene_.end)),
          svg_(width, height(), title())
    {
    }

    std::string draw()
    {
        double top = first_panel;

        draw_title();
        if (is_split_) {
            draw_panel(exchange_, top, "(a) Up to the last cut and message",
                       {});
            top += panel_height() + panel_gap;
        }
        Span whole = widened(scene_.end);
        if (is_split_) {
            draw_panel(whole, top, "(b) The whole checkpoint; (a) is shaded",
                       exchange_);
        } else {
            draw_panel(whole, top, "", {});
        }
        top += panel_height() + above_legend;
        legend_.draw(svg_, {left_, top});
        svg_.text({left_, top + legend_.height() + note_height}, notes_,
                  {style::small_text, Anchor::start, style::pale_ink});
        return svg_.finish();
    }

  private:
    double panel_height() const
    {
        return Panel::height(scene_.rows, is_split_);
    }

    double height() const
    {
        int panels = is_split_ ? 2 : 1;
        return first_panel + panels * panel_height() +
               (panels - 1) * panel_gap + above_legend + legend_.height() +
               (notes_.empty() ? 0 : note_height) + margin;
    }

    std::string title() const
    {
        const CheckpointTrace &trace = scene_.trace;
        return fmt::format("{}/{}: {}, {} rank{}", trace.job, trace.number,
                           protocol_title(trace.protocol), trace.rank_count,
                           trace.rank_count == 1 ? "" : "s");
    }

    void draw_title()
    {
        std::string time = format_time(scene_.trace.requested);
        std::replace(time.begin(), time.end(), 'T', ' ');
        svg_.text({left_, title_base}, title(),
                  {style::title_text, Anchor::start, style::ink, true});
        svg_.text({left_, title_base + 16},
                  "requested " + time.substr(0, time.find('.')) + " UTC",
                  {style::text, Anchor::start, style::pale_ink});
    }

    void draw_panel(Span span, double top, const std::string &heading,
                    std::optional<Span> magnified)
    {
        TimeAxis axis(span.first, span.second, left_, width - margin);
        Panel(svg_, scene_, axis, top, heading, magnified).draw();
    }

    Scene scene_;
    double left_;
    Legend legend_;
    std::string notes_;
    Span exchange_;
    bool is_split_;
    Svg svg_;
};

} // namespace

std::string protocol_title(const std::string &protocol)
{
    return protocol == "sns"  ? "Sync-and-Stop"
           : protocol == "cl" ? "Chandy-Lamport"
           : protocol == "ns" ? "Network sweeping"
                              : protocol;
}

std::string space_time_diagram(const CheckpointTrace &trace)
{
    return Figure(trace).draw();
}

} // namespace ckpt::diagram
