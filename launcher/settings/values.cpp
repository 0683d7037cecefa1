/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * values.cpp - values of settings.
 */
#include "settings/values.hpp"

#include "common/durations.hpp"
#include "common/invariant.hpp"

namespace ckpt::settings
{

namespace
{

bool is_one_of(const Setting &setting, Type one, Type other)
{
    return setting.type == one || setting.type == other;
}

} // namespace

std::string &Values::given(const std::string &variable)
{
    return given_[setting_of(variable).variable];
}

bool Values::is_given(const std::string &variable) const
{
    const auto found = given_.find(setting_of(variable).variable);
    return found != given_.end() && !found->second.empty();
}

std::string Values::text(const std::string &variable) const
{
    const Setting &setting = setting_of(variable);
    if (!is_given(variable)) {
        return setting.standard;
    }
    const std::string &value = given_.at(variable);
    check_named(setting, value);
    return value;
}

std::chrono::nanoseconds Values::duration(const std::string &variable) const
{
    CKPT_EXPECT(is_one_of(setting_of(variable), Type::duration, Type::duration_above_zero));
    return parse_duration(text(variable));
}

std::uint64_t Values::number(const std::string &variable) const
{
    CKPT_EXPECT(setting_of(variable).type == Type::number);
    return std::stoull(text(variable));
}

std::uint64_t Values::bytes(const std::string &variable) const
{
    CKPT_EXPECT(is_one_of(setting_of(variable), Type::bytes, Type::granule));
    return parse_bytes(text(variable));
}

} // namespace ckpt::settings
