/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_list.cpp - node lists in the syntax of the launchers.
 */
#include "cli/launchers/node_list.hpp"

#include "common/files/files.hpp"
#include "common/invariant.hpp"

#include <CLI/StringTools.hpp>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <sstream>
#include <string_view>

namespace ckpt::cli
{

namespace
{

const std::set<std::string> list_options = {"host", "hosts", "w", "nodelist"};
const std::set<std::string> file_options = {"hostfile", "machinefile", "f",
                                            "default-hostfile"};

bool names_nodes(const LaunchOption &option)
{
    return list_options.contains(option.name) || file_options.contains(option.name);
}

int number(std::string_view text)
{
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/* A node that is named twice gets the slots of both. */
void add(NodeList &nodes, const NodeSlots &node)
{
    auto known = std::find_if(nodes.begin(), nodes.end(), [&](const NodeSlots &other) {
        return is_same_host(other.host, node.host);
    });
    if (known == nodes.end()) {
        nodes.push_back(node);
    } else {
        known->slots = std::max(known->slots, 1) + std::max(node.slots, 1);
    }
}

/* "n1:2,n2" */
void add_list(NodeList &nodes, const std::string &text)
{
    for (const std::string &word : CLI::detail::split(text, ',')) {
        const std::size_t colon = word.find(':');
        if (!word.empty()) {
            add(nodes, {word.substr(0, colon),
                        colon == word.npos ? 0 : number(std::string_view(word).substr(colon + 1))});
        }
    }
}

/* "n1 slots=2 max_slots=4" for Open MPI, "n1:2" for hydra; '#' starts a
 * comment. */
void add_file(NodeList &nodes, const std::string &path)
{
    std::istringstream lines(read_text_file(path, "host file"));
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line.substr(0, line.find('#')));
        NodeList named;
        std::string word;
        if (!(words >> word)) {
            continue;
        }
        add_list(named, word);
        while (words >> word) {
            if (word.starts_with("slots=")) {
                named.at(0).slots = number(std::string_view(word).substr(6));
            }
        }
        for (const NodeSlots &node : named) {
            add(nodes, node);
        }
    }
}

/* Returns false for "+n1" (relative to an allocation), "n[1-4]" (a range of
 * Slurm) and "^n1" (excludes a node). */
bool is_plain(const NodeSlots &node)
{
    return node.host.find_first_of("+[]^/") == node.host.npos;
}

std::string join(const NodeList &nodes, bool with_slots)
{
    std::string text;
    for (const NodeSlots &node : nodes) {
        text += text.empty() ? "" : ",";
        text += node.host;
        if (with_slots && node.slots > 0) {
            text += ":" + std::to_string(node.slots);
        }
    }
    return text;
}

} // namespace

NodeList nodes_of(const LaunchLine &line)
{
    NodeList nodes;
    for (const LaunchOption &option : line.options) {
        if (option.values.empty()) {
            continue;
        }
        if (list_options.contains(option.name)) {
            add_list(nodes, option.values[0]);
        } else if (file_options.contains(option.name)) {
            add_file(nodes, option.values[0]);
        }
    }
    return std::all_of(nodes.begin(), nodes.end(), is_plain) ? nodes : NodeList();
}

std::vector<std::string> read_node_names(const std::string &path)
{
    std::vector<std::string> names;
    std::istringstream lines(read_text_file(path, "file of nodes"));

    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string name, more;
        if (!(words >> name)) {
            continue;
        }
        if (words >> more || !is_plain({name, 0}) || name.find_first_of(",:") != name.npos) {
            fail("{}: invalid node name '{}'", path, line);
        }
        names.push_back(name);
    }
    if (names.empty()) {
        fail("{} names no node", path);
    }
    return names;
}

bool is_same_host(const std::string &one, const std::string &other)
{
    const std::string &longer = one.size() > other.size() ? one : other;
    const std::string &shorter = one.size() > other.size() ? other : one;

    return longer == shorter ||
           (longer.starts_with(shorter) && longer[shorter.size()] == '.' &&
            shorter.find('.') == shorter.npos);
}

NodeList without(const NodeList &nodes, const std::set<std::string> &lost)
{
    NodeList left;
    for (const NodeSlots &node : nodes) {
        const bool is_lost = std::any_of(lost.begin(), lost.end(), [&](const auto &name) {
            return is_same_host(node.host, name);
        });
        if (!is_lost) {
            left.push_back(node);
        }
    }
    return left;
}

NodeList for_ranks(const NodeList &nodes, std::size_t count, int ranks)
{
    NodeList chosen = nodes;
    if (count > 0 && count < chosen.size()) {
        chosen.resize(count);
    }
    const int slots = std::accumulate(
        chosen.begin(), chosen.end(), 0,
        [](int sum, const NodeSlots &node) { return sum + std::max(node.slots, 1); });
    if (slots < ranks && !chosen.empty()) {
        const int needed = (ranks + static_cast<int>(chosen.size()) - 1) /
                           static_cast<int>(chosen.size());
        for (NodeSlots &node : chosen) {
            node.slots = std::max(node.slots, needed);
        }
    }
    CKPT_INVARIANT(chosen.size() <= nodes.size());
    return chosen;
}

void set_nodes(LaunchLine &line, const NodeList &nodes)
{
    std::erase_if(line.options, names_nodes);
    switch (line.launcher) {
    case Launcher::open_mpi:
        line.options.push_back(
            {"host", {join(nodes, true)}, {"--host", join(nodes, true)}});
        break;
    case Launcher::hydra:
        line.options.push_back(
            {"hosts", {join(nodes, true)}, {"-hosts", join(nodes, true)}});
        break;
    case Launcher::slurm: {
        const std::string list = join(nodes, false);
        line.options.push_back({"nodelist", {list}, {"--nodelist=" + list}});
        const std::string count = std::to_string(nodes.size());
        line.remove("N");
        line.remove("nodes");
        line.options.push_back({"nodes", {count}, {"--nodes=" + count}});
        break;
    }
    case Launcher::ckpt: /* runs on its own node only */
    case Launcher::other:
        break;
    }
}

} // namespace ckpt::cli
