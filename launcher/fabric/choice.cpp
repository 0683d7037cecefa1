/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * choice.cpp - names of fabric providers.
 */
#include "fabric/choice.hpp"

#include "common/error.hpp"

#include <algorithm>

namespace ckpt::fabric
{

namespace
{

/* In order: InfiniBand and RoCE; Amazon's EFA; Slingshot; Omni-Path (three
 * providers). */
constexpr std::string_view with_hardware[] = {"verbs", "efa", "cxi", "opx", "psm3", "psm2"};

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789_-";

} // namespace

Choice Choice::parse(const std::string &text)
{
    Choice choice;

    if (text.empty() || text.find_first_not_of(letters) != text.npos) {
        fail("'{}' is neither auto nor off nor a provider of libfabric, like verbs or tcp",
             text);
    }
    choice.text_ = text;
    return choice;
}

bool Choice::accepts(std::string_view provider) const
{
    if (!is_auto()) {
        return !is_off();
    }
    return std::ranges::find(with_hardware, provider.substr(0, provider.find(';'))) !=
           std::end(with_hardware);
}

} // namespace ckpt::fabric
