/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * choice.hpp - which fabric a user wants: auto, off, or a provider of libfabric by name.
 */
#pragma once

#include <string>
#include <string_view>

namespace ckpt::fabric
{

class Choice
{
  public:
    /* Off. */
    Choice() = default;
    /* "auto", "off", or the name of a provider of libfabric, without what that puts on top of
     * it ("verbs" for "verbs;ofi_rxm"): mpirun -x would take the rest for another variable.
     * Throws Error for what can be no such name. */
    static Choice parse(const std::string &text);

    bool is_off() const { return text_ == "off"; }
    bool is_auto() const { return text_ == "auto"; }
    /* The name, if neither. */
    const std::string &name() const { return text_; }

    /* Whether a provider will do: its name, with those that it is built of. For auto it must
     * read the memory of other nodes by hardware; others are slower than plain TCP. */
    bool accepts(std::string_view provider) const;

  private:
    std::string text_ = "off";
};

} // namespace ckpt::fabric
