/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * text_decoders.cpp - decoders of settings, and of lists from users and schedulers.
 */
#include "config.h"
#include "fuzz/decoders.hpp"

#include "common/durations.hpp"
#include "common/error.hpp"
#include "fabric/choice.hpp"
#include "image/codec/codec.hpp"
#include "protocol/checkpoint_interval.hpp"
#include "redundancy/domains.hpp"
#include "redundancy/host_list.hpp"
#include "redundancy/scheme.hpp"

namespace ckpt::fuzz
{

namespace
{

constexpr std::size_t most_hosts = 65536;

/* Passes the same text to the parsers of all settings; usually at most one accepts
 * it. */
void parse_settings(const std::string &text)
{
    const auto try_each = [&](auto parse) {
        try {
            parse();
        } catch (const Error &) {
        }
    };

    try_each([&] { require(Codec::parse(Codec::parse(text).text()).text() ==
                               Codec::parse(text).text(),
                           "a codec that cannot be said again"); });
    try_each([&] { (void)redundancy::Scheme::parse(text); });
    try_each([&] { (void)fabric::Choice::parse(text); });
    try_each([&] { (void)CheckpointInterval::parse(text).value(); });
    try_each([&] { (void)parse_duration(text); });
    try_each([&] { (void)parse_time(text); });
}

void expand(const std::string &text)
{
    require(redundancy::expand_hosts(text).size() <= most_hosts, "more hosts than allowed");
}

} // namespace

std::vector<Decoder> text_decoders()
{
    return {
        {"settings",
         {"zstd:-3", "lz4", "rs2/8", "parity/4", "partner", "verbs", "10m", "1.5h", "auto",
          "2026-01-02T03:04:05.678Z"},
         parse_settings},
        {"hosts", {"a,n[01-03,7]", "r[1-2]n[1-3]"}, expand},
        {"domains",
         {"n1 n[2-4] : a\nSwitchName=s Nodes=m[01-12,17]\n# all\nSwitchName=t Switches=s\n"},
         [](const std::string &text) { (void)redundancy::parse_domains(text); }},
    };
}

} // namespace ckpt::fuzz
