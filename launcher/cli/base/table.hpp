/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table.hpp - text in columns.
 */
#pragma once

#include <string>
#include <vector>

namespace ckpt::cli
{

class Table
{
  public:
    explicit Table(std::vector<std::string> headings);

    /* cells: as many as there are headings. */
    void add(std::vector<std::string> cells);

    /* Returns all rows, with each column as wide as its longest cell. */
    std::string text() const;

  private:
    std::vector<std::vector<std::string>> rows_;
};

} // namespace ckpt::cli
