/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hdf5_filters.hpp - the filters of chunks, by the ids that are registered with the HDF
 * Group. The writer and the reader handle chunks themselves; these serve H5Dread and
 * H5Dwrite, and HDF5 makes no dataset with a filter that it does not know.
 */
#pragma once

#include <hdf5.h>

namespace ckpt
{

inline constexpr H5Z_filter_t lz4_filter_id = 32004;
inline constexpr H5Z_filter_t zstd_filter_id = 32015;

/* Makes HDF5 know them, once; caller holds a Hdf5Lock. */
void register_filters();

} // namespace ckpt
