/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * style.hpp - colours, lines and sizes of the space-time diagram. The colours
 * are distinguishable by colour-blind readers (Okabe and Ito) and in print;
 * dashes distinguish grey lines.
 */
#pragma once

#include "diagram/svg.hpp"

#include <cstdint>

namespace ckpt::diagram::style
{

inline constexpr std::string_view ink = "#222222";
inline constexpr std::string_view pale_ink = "#666666";
inline constexpr std::string_view still = "#dadada";   /* a rank is stopped */
inline constexpr std::string_view reading = "#a3a3a3"; /* rank is read */
inline constexpr std::string_view magnified = "#f4efe2";
inline constexpr std::string_view logged_colour = "#d55e00";

inline constexpr Stroke grid{"#ececec", 1, ""};
inline constexpr Stroke axis{"#222222", 1, ""};
inline constexpr Stroke life{"#444444", 1, ""};          /* of a rank */
inline constexpr Stroke agent_life{"#444444", 1, "1 3"}; /* of an agent */
inline constexpr Stroke cut{"#000000", 2.2, "5 3"};
inline constexpr Stroke order{"#8c8c8c", 0.8, ""};
inline constexpr Stroke answer{"#8c8c8c", 0.8, "2 2"};
inline constexpr Stroke marker{"#0072b2", 1.3, ""};
inline constexpr Stroke first_use{"#0072b2", 1.3, "4 2.5"};
inline constexpr Stroke logged{logged_colour, 1.6, ""};
/* For a message sent at an unknown time before its sender's cut; the line
 * starts a little before the cut. */
inline constexpr Stroke logged_unsent{logged_colour, 1.6, "6 3"};
inline constexpr double before_cut = 14;
/* For a message with only one known end. */
inline constexpr double stub_width = 9;
inline constexpr Stroke commit{"#222222", 1.2, "8 2 2 2"};

inline constexpr double cut_radius = 3.2;
inline constexpr double log_half_side = 3;

/* Dashes distinguish the dimensions of a sweep. */
inline constexpr Stroke sweep(std::uint64_t dimension)
{
    constexpr std::string_view dashes[] = {"", "7 3", "2.5 2.5", "9 3 2 3"};
    return {"#009e73", 1.3, dashes[dimension % 4]};
}

inline constexpr double small_text = 9.5;
inline constexpr double text = 10.5;
inline constexpr double title_text = 15;

} // namespace ckpt::diagram::style
