/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coder.cpp - sums and products of blocks, computed by ISA-L.
 */
#include "config.h"
#include "redundancy/coder.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "redundancy/scheme.hpp"

#include <isa-l/erasure_code.h>
#include <isa-l/raid.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace ckpt::redundancy
{

namespace
{

constexpr std::size_t table_bytes = 32; /* ISA-L's table for one coefficient */

using Pointers = std::array<void *, largest_group + 1>;

/* ISA-L takes non-const pointers to its input, too. */
Pointers pointers_to(std::span<const std::byte *const> sources)
{
    Pointers pointers{};

    CKPT_EXPECT(sources.size() <= largest_group);
    std::ranges::transform(sources, pointers.begin(), [](const std::byte *source) {
        return const_cast<std::byte *>(source);
    });
    return pointers;
}

} // namespace

/* ---- A combination -------------------------------------------------------------- */

Combination::Combination(std::vector<std::uint8_t> coefficients)
    : coefficients_(std::move(coefficients))
{
    CKPT_EXPECT(!coefficients_.empty() && coefficients_.size() <= largest_group);
    if (!std::ranges::all_of(coefficients_, [](auto one) { return one == 1; })) {
        tables_.resize(table_bytes * coefficients_.size());
        ec_init_tables(static_cast<int>(coefficients_.size()), 1, coefficients_.data(),
                       tables_.data());
    }
}

void Combination::apply(std::span<const std::byte *const> sources,
                        std::span<std::byte> result) const
{
    const int count = static_cast<int>(sources.size());
    const int bytes = static_cast<int>(result.size());
    CKPT_EXPECT(bytes >= 0 && static_cast<std::size_t>(bytes) == result.size());
    Pointers pointers = pointers_to(sources);

    CKPT_EXPECT(sources.size() == coefficients_.size());
    if (!tables_.empty()) {
        unsigned char *into = reinterpret_cast<unsigned char *>(result.data());
        ec_encode_data(bytes, count, 1, const_cast<unsigned char *>(tables_.data()),
                       reinterpret_cast<unsigned char **>(pointers.data()), &into);
    } else if (count == 1) {
        std::memcpy(result.data(), sources.front(), result.size());
    } else {
        pointers[sources.size()] = result.data();
        if (xor_gen(count + 1, bytes, pointers.data()) != 0) {
            fail("ISA-L refuses an exclusive or of {} blocks of {} bytes", count, bytes);
        }
    }
}

/* ---- A stripe -------------------------------------------------------------------- */

Coder::Coder(unsigned data, unsigned parities)
    : data_(data), matrix_(std::size_t{data + parities} * data)
{
    CKPT_EXPECT(data > 0 && parities > 0 && data + parities <= largest_group);
    gf_gen_cauchy1_matrix(matrix_.data(), static_cast<int>(data + parities),
                          static_cast<int>(data));
    if (parities == 1) { /* exclusive or is equivalent, and faster */
        std::fill(matrix_.end() - data, matrix_.end(), 1);
    }
}

std::span<const std::uint8_t> Coder::row(unsigned block) const
{
    CKPT_EXPECT((std::size_t{block} + 1) * data_ <= matrix_.size());
    return std::span(matrix_).subspan(std::size_t{block} * data_, data_);
}

Combination Coder::parity(unsigned row) const
{
    const auto coefficients = this->row(data_ + row);

    return Combination({coefficients.begin(), coefficients.end()});
}

/* The data blocks are the inverse of the rows of `from`, times the blocks `from`. */
Combination Coder::recovery(std::span<const unsigned> from, unsigned wanted) const
{
    std::vector<std::uint8_t> rows, inverse(std::size_t{data_} * data_),
        coefficients(data_);

    CKPT_EXPECT(from.size() == data_);
    for (unsigned block : from) {
        const auto one = row(block);
        rows.insert(rows.end(), one.begin(), one.end());
    }
    if (gf_invert_matrix(rows.data(), inverse.data(), static_cast<int>(data_)) != 0) {
        fail("blocks of a stripe that do not determine the others");
    }
    for (std::size_t i = 0; i < data_; i++) {
        for (std::size_t j = 0; j < data_; j++) {
            coefficients[j] ^= gf_mul(row(wanted)[i], inverse[i * data_ + j]);
        }
    }
    return Combination(std::move(coefficients));
}

} // namespace ckpt::redundancy
