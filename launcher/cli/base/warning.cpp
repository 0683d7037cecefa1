/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * warning.cpp - parses names of signals.
 */
#include "cli/base/warning.hpp"

#include "common/error.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <sstream>

namespace ckpt::cli
{

namespace
{

constexpr std::array signals_waited_for = {SIGINT, SIGTERM, SIGHUP,
                                           SIGQUIT, SIGUSR1, SIGUSR2};

int signal_of(const std::string &word)
{
    auto found = std::ranges::find_if(signals_waited_for, [&](int signal) {
        const std::string name = sigabbrev_np(signal);
        return word == name || word == "SIG" + name;
    });
    if (found == signals_waited_for.end()) {
        fail("{} is none of INT, TERM, HUP, QUIT, USR1, USR2", word);
    }
    return *found;
}

} // namespace

std::set<int> parse_signals(const std::string &text)
{
    std::set<int> found;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');) {
        found.insert(signal_of(word));
    }
    return found;
}

} // namespace ckpt::cli
