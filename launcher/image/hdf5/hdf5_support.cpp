/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hdf5_support.cpp - HDF5's error texts and its lock.
 */
#include "config.h"
#include "image/hdf5/hdf5_support.hpp"

#include "common/error.hpp"
#include "image/hdf5/hdf5_filters.hpp"

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

} // namespace

Hdf5Lock::Hdf5Lock()
    : lock_(hdf5_mutex)
{
    require_hdf5(H5open(), "cannot start HDF5");
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    register_filters();
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
