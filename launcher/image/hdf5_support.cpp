/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hdf5_support.cpp - HDF5's error texts, its lock, and the zstd filter.
 */
#include "config.h"
#include "image/hdf5_support.hpp"

#include "common/error.hpp"

#include <zstd.h>

#include <cstdlib>

namespace ckpt
{

namespace
{

std::recursive_mutex hdf5_mutex;

herr_t append_error(unsigned depth, const H5E_error2_t *error, void *data)
{
    auto *text = static_cast<std::string *>(data);
    if (depth > 0) {
        *text += "; ";
    }
    *text += error->desc != nullptr ? error->desc : "(no text)";
    return 0;
}

/* Replaces *buffer, of *capacity bytes, by `result`. */
std::size_t replace_buffer(void *result, std::size_t size, std::size_t room,
                           std::size_t *capacity, void **buffer)
{
    H5free_memory(*buffer);
    *buffer = result;
    *capacity = room;
    return size;
}

/* The filter as HDF5 calls it on whole chunks; 0 means failure. The writer and
 * the reader handle chunks themselves; this serves H5Dread and H5Dwrite. */
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
    if (ZSTD_isError(made)) {
        H5free_memory(result);
        return 0;
    }
    return replace_buffer(result, made, room, capacity, buffer);
}

void register_zstd_filter()
{
    static bool done = false;
    if (done) {
        return;
    }
    H5Z_class2_t filter = {};
    filter.version = H5Z_CLASS_T_VERS;
    filter.id = zstd_filter_id;
    filter.encoder_present = 1;
    filter.decoder_present = 1;
    filter.name = "zstd";
    filter.filter = zstd_filter;
    require_hdf5(H5Zregister(&filter), "cannot register the zstd filter");
    done = true;
}

} // namespace

Hdf5Lock::Hdf5Lock() : lock_(hdf5_mutex)
{
    require_hdf5(H5open(), "cannot start HDF5");
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    register_zstd_filter();
}

void Hdf5Id::reset() noexcept
{
    if (id_ >= 0) {
        std::lock_guard lock(hdf5_mutex);
        H5Idec_ref(id_);
        id_ = -1;
    }
}

std::string take_hdf5_errors()
{
    std::string text;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, append_error, &text);
    H5Eclear2(H5E_DEFAULT);
    return text;
}

void fail_hdf5(std::string_view what)
{
    fail("{}: {}", what, take_hdf5_errors());
}

} // namespace ckpt
