/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info_list.hpp - an array of pmix_info_t that owns what its entries point to.
 *
 * It is made without functions of libpmix, which is opened at run time.
 */
#pragma once

#include <pmix_common.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace ckpt::world
{

class InfoList
{
  public:
    InfoList() = default;
    InfoList(InfoList &&) = default;
    InfoList &operator=(InfoList &&) = default;

    void add_number(const char *key, std::uint32_t value);
    void add_local(const char *key, std::uint16_t value); /* a rank within a node */
    void add_rank(const char *key, pmix_rank_t value);
    void add_flag(const char *key, bool value);
    void add_text(const char *key, const std::string &value);
    /* An expression that PMIx_generate_regex() or PMIx_generate_ppn() has made. It ends with the
     * first NUL. */
    void add_expression(const char *key, const std::string &value);
    void add_list(const char *key, InfoList value);

    /* Valid until the list is changed or destroyed; PMIx only reads them. */
    pmix_info_t *data() { return entries_.data(); }
    std::size_t size() const { return entries_.size(); }

  private:
    pmix_value_t &add(const char *key, pmix_data_type_t type);

    std::vector<pmix_info_t> entries_;
    std::deque<std::string> texts_; /* elements never move */
    std::deque<std::unique_ptr<InfoList>> lists_;
    std::deque<pmix_data_array_t> arrays_;
};

} // namespace ckpt::world
