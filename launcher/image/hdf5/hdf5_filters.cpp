/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hdf5_filters.cpp - zstd and LZ4 as HDF5 filters for whole chunks.
 */
#include "config.h"
#include "image/hdf5/hdf5_filters.hpp"

#include "image/hdf5/hdf5_support.hpp"
#include "image/codec/lz4_chunk.hpp"

#include <zstd.h>

#include <cstddef>
#include <span>

namespace ckpt
{

namespace
{

/* Replaces *buffer, of *capacity bytes, by `result` of `size` bytes. A size of 0
 * means failure and leaves *buffer as it is. */
std::size_t replace_buffer(void *result, std::size_t size, std::size_t room,
                           std::size_t *capacity, void **buffer)
{
    if (size == 0) {
        H5free_memory(result);
        return 0;
    }
    H5free_memory(*buffer);
    *buffer = result;
    *capacity = room;
    return size;
}

std::size_t zstd_filter(unsigned flags, std::size_t value_count,
                        const unsigned values[], std::size_t size,
                        std::size_t *capacity, void **buffer)
{
    bool decode = (flags & H5Z_FLAG_REVERSE) != 0;
    unsigned long long room = decode ? ZSTD_getFrameContentSize(*buffer, size)
                                     : ZSTD_compressBound(size);
    if (room == ZSTD_CONTENTSIZE_ERROR || room == ZSTD_CONTENTSIZE_UNKNOWN) {
        return 0;
    }
    void *result = H5allocate_memory(room, false);
    if (result == nullptr) {
        return 0;
    }
    int level = value_count > 0 ? static_cast<int>(values[0]) : 1;
    std::size_t made = decode
                           ? ZSTD_decompress(result, room, *buffer, size)
                           : ZSTD_compress(result, room, *buffer, size, level);
    return replace_buffer(result, ZSTD_isError(made) ? 0 : made, room, capacity,
                          buffer);
}

std::size_t lz4_filter(unsigned flags, std::size_t, const unsigned[],
                       std::size_t size, std::size_t *capacity, void **buffer)
{
    std::span input(static_cast<const std::byte *>(*buffer), size);
    bool decode = (flags & H5Z_FLAG_REVERSE) != 0;
    std::size_t room = decode ? lz4_chunk_content_size(input) : size;
    void *result = room == 0 ? nullptr : H5allocate_memory(room, false);
    if (result == nullptr) {
        return 0;
    }
    std::span output(static_cast<std::byte *>(result), room);
    std::size_t made = 0;
    if (!decode) {
        made = compress_lz4_chunk(input, output, room);
    } else if (decompress_lz4_chunk(input, output).empty()) {
        made = room;
    }
    return replace_buffer(result, made, room, capacity, buffer);
}

void register_filter(H5Z_filter_t id, const char *name, H5Z_func_t function)
{
    H5Z_class2_t filter = {};
    filter.version = H5Z_CLASS_T_VERS;
    filter.id = id;
    filter.encoder_present = 1;
    filter.decoder_present = 1;
    filter.name = name;
    filter.filter = function;
    require_hdf5(H5Zregister(&filter), "cannot register a filter");
}

} // namespace

void register_filters()
{
    static bool done = false;
    if (!done) {
        register_filter(zstd_filter_id, "zstd", zstd_filter);
        register_filter(lz4_filter_id, "LZ4", lz4_filter);
        done = true;
    }
}

} // namespace ckpt
