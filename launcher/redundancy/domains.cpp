/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * domains.cpp - parses failure domains, line by line.
 */
#include "config.h"
#include "redundancy/domains.hpp"

#include "common/error.hpp"
#include "redundancy/host_list.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <vector>

namespace ckpt::redundancy
{

namespace
{

std::vector<std::string> words_in(const std::string &text)
{
    std::istringstream stream(text);
    std::vector<std::string> words;

    for (std::string word; stream >> word;) {
        words.push_back(word);
    }
    return words;
}

bool is_same_word(std::string_view one, std::string_view other)
{
    return std::ranges::equal(one, other, [](unsigned char a, unsigned char b) {
        return std::tolower(a) == std::tolower(b);
    });
}

/* Returns the value of "KEY=" among the words; keys are case-insensitive, as in
 * Slurm. */
std::string value_of(const std::vector<std::string> &words, std::string_view key)
{
    for (const std::string &word : words) {
        const std::size_t equals = word.find('=');
        if (equals != word.npos &&
            is_same_word(std::string_view(word).substr(0, equals), key)) {
            return word.substr(equals + 1);
        }
    }
    return {};
}

void add(Domains &domains, const std::string &hosts, const std::string &domain)
{
    for (const std::string &host : expand_hosts(hosts)) {
        const auto [entry, is_new] = domains.emplace(host, domain);
        if (!is_new && entry->second != domain) {
            fail("{} is in {} and in {}", host, entry->second, domain);
        }
    }
}

/* "SwitchName=s1 Nodes=n[1-4]" */
void add_switch(Domains &domains, const std::vector<std::string> &words)
{
    const std::string name = value_of(words, "SwitchName");
    const std::string nodes = value_of(words, "Nodes");

    if (name.empty() || (nodes.empty() && value_of(words, "Switches").empty())) {
        fail("it says neither 'HOST... : DOMAIN' nor 'SwitchName=NAME Nodes=HOSTS'");
    }
    if (!nodes.empty()) {
        add(domains, nodes, name);
    }
}

void add_line(Domains &domains, const std::string &line)
{
    const std::size_t colon = line.find(':');
    const auto words = words_in(line.substr(0, colon));

    if (colon == line.npos) {
        if (!words.empty()) {
            add_switch(domains, words);
        }
        return;
    }
    const auto names = words_in(line.substr(colon + 1));
    if (words.empty() || names.size() != 1) {
        fail("a domain is one word, after a colon and at least one host");
    }
    for (const std::string &hosts : words) {
        add(domains, hosts, names.front());
    }
}

} // namespace

Domains parse_domains(std::string_view text)
{
    std::istringstream lines{std::string(text)};
    Domains domains;
    std::size_t number = 0;

    for (std::string line; std::getline(lines, line);) {
        number++;
        try {
            add_line(domains, line.substr(0, line.find('#')));
        } catch (const Error &error) {
            fail("failure domains, line {}: {}", number, error.what());
        }
    }
    return domains;
}

} // namespace ckpt::redundancy
