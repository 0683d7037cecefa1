/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table.cpp - text in columns.
 */
#include "cli/base/table.hpp"

#include "common/invariant.hpp"

#include <algorithm>

namespace ckpt::cli
{

namespace
{

constexpr const char *gap = "  ";

} // namespace

Table::Table(std::vector<std::string> headings)
{
    rows_.push_back(std::move(headings));
}

void Table::add(std::vector<std::string> cells)
{
    CKPT_EXPECT(cells.size() == rows_.front().size());
    rows_.push_back(std::move(cells));
}

std::string Table::text() const
{
    CKPT_INVARIANT(!rows_.empty());
    std::vector<std::size_t> widths(rows_.front().size(), 0);
    for (const auto &row : rows_) {
        for (std::size_t i = 0; i < row.size(); i++) {
            widths[i] = std::max(widths[i], row[i].size());
        }
    }
    std::string text;
    for (const auto &row : rows_) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); i++) {
            line += row[i] + std::string(widths[i] - row[i].size(), ' ') + gap;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

} // namespace ckpt::cli
