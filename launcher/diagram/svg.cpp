/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * svg.cpp - builds a drawing as an SVG text.
 */
#include "config.h"
#include "diagram/svg.hpp"

#include "common/invariant.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace ckpt::diagram
{

namespace
{

constexpr double head_length = 7;
constexpr double head_half_width = 2.6;
/* Average letter widths of a sans-serif font, relative to its size. */
constexpr double letter_width = 0.57;
constexpr double capital_width = 0.72;

/* Also drops characters that XML does not allow. */
std::string escaped(std::string_view words)
{
    std::string text;
    for (char letter : words) {
        switch (letter) {
        case '&':
            text += "&amp;";
            break;
        case '<':
            text += "&lt;";
            break;
        case '>':
            text += "&gt;";
            break;
        case '"':
            text += "&quot;";
            break;
        default:
            text += static_cast<unsigned char>(letter) < ' ' ? ' ' : letter;
        }
    }
    return text;
}

std::string attributes(const Stroke &stroke)
{
    std::string text = fmt::format("stroke=\"{}\" stroke-width=\"{:g}\"",
                                   stroke.colour, stroke.width);
    if (!stroke.dashes.empty()) {
        text += fmt::format(" stroke-dasharray=\"{}\"", stroke.dashes);
    }
    return text;
}

std::string outline_attributes(const Stroke *outline)
{
    return outline == nullptr ? "" : " " + attributes(*outline);
}

std::string points_text(const std::vector<Point> &points)
{
    std::string text;
    for (const Point &point : points) {
        text += fmt::format("{}{:.1f},{:.1f}", text.empty() ? "" : " ",
                            point.x, point.y);
    }
    return text;
}

const char *anchor_name(Anchor anchor)
{
    static const char *const names[] = {"start", "middle", "end"};
    CKPT_EXPECT(static_cast<std::size_t>(anchor) < std::size(names));
    return names[static_cast<int>(anchor)];
}

} // namespace

double text_width(std::string_view words, double size)
{
    double width = 0;
    for (char letter : words) {
        width += 'A' <= letter && letter <= 'Z' ? capital_width : letter_width;
    }
    return width * size;
}

Svg::Svg(double width, double height, std::string_view title)
    : width_(width), height_(height), title_(title)
{
}

void Svg::line(Point from, Point to, const Stroke &stroke)
{
    body_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" "
                         "y2=\"{:.1f}\" {}/>\n",
                         from.x, from.y, to.x, to.y, attributes(stroke));
}

void Svg::polyline(const std::vector<Point> &points, const Stroke &stroke)
{
    body_ += fmt::format("<polyline points=\"{}\" fill=\"none\" "
                         "stroke-linejoin=\"round\" {}/>\n",
                         points_text(points), attributes(stroke));
}

void Svg::arrow(Point from, Point to, const Stroke &stroke, bool filled)
{
    double length = std::hypot(to.x - from.x, to.y - from.y);
    if (length == 0) {
        return;
    }
    Point along{(to.x - from.x) / length, (to.y - from.y) / length};
    double head = std::min(head_length, length);
    Point neck{to.x - head * along.x, to.y - head * along.y};
    Point side{-head_half_width * along.y, head_half_width * along.x};
    Stroke outline{stroke.colour, 0.8, ""};

    line(from, neck, stroke);
    polygon({to,
             {neck.x + side.x, neck.y + side.y},
             {neck.x - side.x, neck.y - side.y}},
            filled ? stroke.colour : "#ffffff", &outline);
}

void Svg::rectangle(Point corner, double width, double height,
                    std::string_view fill, const Stroke *outline)
{
    body_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                         "height=\"{:.1f}\" fill=\"{}\"{}/>\n",
                         corner.x, corner.y, width, height, fill,
                         outline_attributes(outline));
}

void Svg::circle(Point centre, double radius, std::string_view fill)
{
    body_ += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:g}\" fill=\"{}\"/>\n",
        centre.x, centre.y, radius, fill);
}

void Svg::polygon(const std::vector<Point> &points, std::string_view fill,
                  const Stroke *outline)
{
    body_ += fmt::format("<polygon points=\"{}\" fill=\"{}\"{}/>\n",
                         points_text(points), fill,
                         outline_attributes(outline));
}

void Svg::text(Point base, std::string_view words, const TextStyle &style)
{
    body_ += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:g}\" "
        "text-anchor=\"{}\" fill=\"{}\"{}>{}</text>\n",
        base.x, base.y, style.size, anchor_name(style.anchor), style.colour,
        style.bold ? " font-weight=\"bold\"" : "", escaped(words));
}

void Svg::begin_clip(Point corner, double width, double height)
{
    clips_++;
    body_ += fmt::format("<clipPath id=\"clip{}\"><rect x=\"{:.1f}\" "
                         "y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>"
                         "</clipPath>\n<g clip-path=\"url(#clip{})\">\n",
                         clips_, corner.x, corner.y, width, height, clips_);
}

void Svg::end_clip()
{
    body_ += "</g>\n";
}

std::string Svg::finish() const
{
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
        "font-family=\"Helvetica, Arial, sans-serif\">\n<title>{2}</title>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{3}</svg>\n",
        width_, height_, escaped(title_), body_);
}

} // namespace ckpt::diagram
