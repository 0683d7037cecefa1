/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info_list.cpp - values for PMIx.
 */
#include "world/info_list.hpp"

#include "common/invariant.hpp"

#include <cstring>
#include <utility>

namespace ckpt::world
{

pmix_value_t &InfoList::add(const char *key, pmix_data_type_t type)
{
    CKPT_EXPECT(std::strlen(key) <= PMIX_MAX_KEYLEN);
    pmix_info_t &entry = entries_.emplace_back();
    std::strncpy(entry.key, key, PMIX_MAX_KEYLEN);
    entry.value.type = type;
    return entry.value;
}

void InfoList::add_number(const char *key, std::uint32_t value)
{
    add(key, PMIX_UINT32).data.uint32 = value;
}

void InfoList::add_local(const char *key, std::uint16_t value)
{
    add(key, PMIX_UINT16).data.uint16 = value;
}

void InfoList::add_rank(const char *key, pmix_rank_t value)
{
    add(key, PMIX_PROC_RANK).data.rank = value;
}

void InfoList::add_flag(const char *key, bool value)
{
    add(key, PMIX_BOOL).data.flag = value;
}

void InfoList::add_text(const char *key, const std::string &value)
{
    add(key, PMIX_STRING).data.string = texts_.emplace_back(value).data();
}

void InfoList::add_expression(const char *key, const std::string &value)
{
    pmix_byte_object_t &bytes = add(key, PMIX_REGEX).data.bo;
    bytes.bytes = texts_.emplace_back(value).data();
    bytes.size = value.size() + 1;
}

void InfoList::add_list(const char *key, InfoList value)
{
    InfoList &list = *lists_.emplace_back(std::make_unique<InfoList>(std::move(value)));
    pmix_data_array_t &array = arrays_.emplace_back();
    array.type = PMIX_INFO;
    array.size = list.size();
    array.array = list.data();
    add(key, PMIX_DATA_ARRAY).data.darray = &array;
    CKPT_INVARIANT(array.size > 0);
}

} // namespace ckpt::world
