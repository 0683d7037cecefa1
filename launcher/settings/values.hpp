/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * values.hpp - values that a user has given to settings, else the defaults.
 */
#pragma once

#include "settings/settings.hpp"

#include <chrono>
#include <map>

namespace ckpt::settings
{

/* Settings are named by their variables. A name that the table lacks throws std::logic_error. */
class Values
{
  public:
    /* Returns where the given value is stored; empty: none is given. The reference remains
     * valid. */
    std::string &given(const std::string &variable);
    bool is_given(const std::string &variable) const;

    /* Return the given value, else the default, else "". Throw Error if a value is invalid; the
     * text names the variable. */
    std::string text(const std::string &variable) const;
    std::chrono::nanoseconds duration(const std::string &variable) const;
    std::uint64_t number(const std::string &variable) const;
    std::uint64_t bytes(const std::string &variable) const;

  private:
    std::map<std::string, std::string> given_;
};

} // namespace ckpt::settings
