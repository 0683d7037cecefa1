/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_list.cpp - expands brackets in host names.
 */
#include "config.h"
#include "redundancy/host_list.hpp"

#include "common/error.hpp"

#include <charconv>
#include <cstdint>
#include <system_error>

namespace ckpt::redundancy
{

namespace
{

constexpr std::size_t most_names = 65536;

void require(bool condition, std::string_view list)
{
    if (!condition) {
        fail("invalid list of hosts '{}'", list);
    }
}

std::uint32_t number_in(std::string_view digits, std::string_view list)
{
    const char *end = digits.data() + digits.size();
    std::uint32_t number = 0;
    auto [stop, error] = std::from_chars(digits.data(), end, number);

    require(error == std::errc() && stop == end, list);
    return number;
}

/* Expands "07-09" to 07, 08, 09. */
void add_range(std::vector<std::string> &numbers, std::string_view range)
{
    const std::size_t dash = range.find('-');
    const std::string_view low = range.substr(0, dash);
    const std::string_view high = dash == range.npos ? low : range.substr(dash + 1);
    const std::uint32_t first = number_in(low, range), last = number_in(high, range);

    require(first <= last && last - first < most_names && low.size() <= 32, range);
    for (std::uint64_t number = first; number <= last; number++) {
        numbers.push_back(fmt::format("{:0{}}", number, low.size()));
    }
}

/* Calls `call` for each part between commas outside of brackets. */
template <typename Call>
void for_parts(std::string_view list, Call call)
{
    std::size_t from = 0;
    bool is_inside = false;

    for (std::size_t at = 0; at <= list.size(); at++) {
        const char letter = at < list.size() ? list[at] : ',';
        if (letter == '[' || letter == ']') {
            require(is_inside == (letter == ']'), list);
            is_inside = letter == '[';
        } else if (letter == ',' && (!is_inside || at == list.size())) {
            require(!is_inside && at > from, list);
            call(list.substr(from, at - from));
            from = at + 1;
        }
    }
}

/* Appends each of the endings to each name. */
std::vector<std::string> combined(const std::vector<std::string> &names,
                                  const std::vector<std::string> &endings,
                                  std::string_view list)
{
    std::vector<std::string> all;

    require(names.size() * endings.size() <= most_names, list);
    for (const std::string &name : names) {
        for (const std::string &ending : endings) {
            all.push_back(name + ending);
        }
    }
    return all;
}

/* Returns all names of one part, in which plain text and brackets alternate. */
std::vector<std::string> names_of(std::string_view part)
{
    std::vector<std::string> names = {""};
    std::string_view rest = part;

    while (!rest.empty()) {
        const std::size_t open = rest.find('[');
        names = combined(names, {std::string(rest.substr(0, open))}, part);
        if (open == rest.npos) {
            break;
        }
        const std::size_t close = rest.find(']');
        std::vector<std::string> numbers;
        for_parts(rest.substr(open + 1, close - open - 1),
                  [&](std::string_view range) { add_range(numbers, range); });
        names = combined(names, numbers, part);
        rest.remove_prefix(close + 1);
    }
    return names;
}

} // namespace

std::vector<std::string> expand_hosts(std::string_view list)
{
    std::vector<std::string> hosts;

    for_parts(list, [&](std::string_view part) {
        for (std::string &name : names_of(part)) {
            hosts.push_back(std::move(name));
        }
        require(hosts.size() <= most_names, list.substr(0, 100));
    });
    return hosts;
}

} // namespace ckpt::redundancy
