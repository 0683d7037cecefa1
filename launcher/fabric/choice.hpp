/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * choice.hpp - the fabric that a user has selected: auto, off, or a libfabric provider by
 * name.
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
    /* Parses "auto", "off", or the name of a libfabric provider. The name has no layered
     * providers ("verbs" for "verbs;ofi_rxm"), because mpirun -x would take the rest for
     * another variable. Throws Error if the name is invalid. */
    static Choice parse(const std::string &text);

    bool is_off() const { return text_ == "off"; }
    bool is_auto() const { return text_ == "auto"; }
    /* Returns the provider's name, if neither off nor auto. */
    const std::string &name() const { return text_; }

    /* Whether a provider is acceptable; `provider` is its name, including its layers. For
     * "auto", the hardware must be able to read the memory of other nodes; other providers
     * are slower than plain TCP. */
    bool accepts(std::string_view provider) const;

  private:
    std::string text_ = "off";
};

} // namespace ckpt::fabric
