/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * svg.hpp - builds a drawing as an SVG text: lines, arrows, areas and words.
 * Uses only basic elements with attributes, which every viewer and converter
 * supports.
 */
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ckpt::diagram
{

struct Point {
    double x = 0;
    double y = 0;
};

struct Stroke {
    std::string_view colour = "#000000";
    double width = 1;
    std::string_view dashes = ""; /* "4 2": drawn, left out; "": solid */
};

enum class Anchor {
    start,
    middle,
    end
};

struct TextStyle {
    double size = 10;
    Anchor anchor = Anchor::start;
    std::string_view colour = "#000000";
    bool bold = false;
};

class Svg
{
  public:
    /* Size in pixels, with a white background; `title` is for screen
     * readers. */
    Svg(double width, double height, std::string_view title);

    void line(Point from, Point to, const Stroke &stroke);
    void polyline(const std::vector<Point> &points, const Stroke &stroke);
    /* A line with a head at its end; the head is filled or an outline. */
    void arrow(Point from, Point to, const Stroke &stroke, bool filled = true);
    void rectangle(Point corner, double width, double height,
                   std::string_view fill, const Stroke *outline = nullptr);
    void circle(Point centre, double radius, std::string_view fill);
    void polygon(const std::vector<Point> &points, std::string_view fill,
                 const Stroke *outline = nullptr);
    /* `base` is on the baseline of the text. */
    void text(Point base, std::string_view words, const TextStyle &style);

    /* Elements drawn until end_clip() are visible only inside the rectangle. */
    void begin_clip(Point corner, double width, double height);
    void end_clip();

    /* Returns the whole drawing. */
    std::string finish() const;

  private:
    double width_;
    double height_;
    std::string title_;
    std::string body_;
    int clips_ = 0;
};

/* Estimates the width of a text in pixels. */
double text_width(std::string_view words, double size);

} // namespace ckpt::diagram
