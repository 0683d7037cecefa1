/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hdf5_filters.hpp - the chunk filters, by the ids registered with the HDF Group. The
 * node file's writer and reader handle chunks themselves. The filters serve H5Dread and
 * H5Dwrite, and HDF5 needs them to create a dataset.
 */
#pragma once

#include <hdf5.h>

namespace ckpt
{

inline constexpr H5Z_filter_t lz4_filter_id = 32004;
inline constexpr H5Z_filter_t zstd_filter_id = 32015;

/* Registers the filters with HDF5, once; the caller holds a Hdf5Lock. */
void register_filters();

} // namespace ckpt
