/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * legend.hpp - explains the lines and colours of a space-time diagram.
 */
#pragma once

#include "diagram/panel.hpp"
#include "diagram/svg.hpp"

#include <functional>
#include <string>
#include <vector>

namespace ckpt::diagram
{

class Legend
{
  public:
    /* Creates entries for the elements of the scene, in lines of the given
     * width. */
    Legend(const Scene &scene, double width);

    double height() const;
    void draw(Svg &svg, Point corner) const;

  private:
    struct Entry {
        std::string words;
        /* Draws the symbol between x and x + sign_width, centred at y. */
        std::function<void(Svg &, double x, double y)> sign;
        Point place; /* relative to the legend's corner */
    };

    void add(std::string words, std::function<void(Svg &, double, double)>);
    void add_line(std::string words, const Stroke &stroke);
    void add_arrow(std::string words, const Stroke &stroke, bool filled);
    void add_bar(std::string words, std::string_view colour);
    void add_control(const Scene &scene);
    void add_between_ranks(const Scene &scene);
    void place_entries();

    double width_;
    std::vector<Entry> entries_;
};

} // namespace ckpt::diagram
