/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hdf5_file_driver.cpp - an HDF5 virtual file driver for one descriptor.
 */
#include "config.h"
#include "image/hdf5/hdf5_file_driver.hpp"

#include "common/error.hpp"
#include "common/fault_injection.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

namespace ckpt
{

namespace
{

/* The driver's file object; HDF5 only knows its first member. */
struct DriverHandle {
    H5FD_t base;
    DriverFile *file;
    haddr_t end_of_addresses;
    haddr_t end_of_file;
};
static_assert(offsetof(DriverHandle, base) == 0); /* HDF5 knows only the base */

DriverHandle *handle_of(H5FD_t *base)
{
    return reinterpret_cast<DriverHandle *>(base);
}

const DriverHandle *handle_of(const H5FD_t *base)
{
    return reinterpret_cast<const DriverHandle *>(base);
}

void note_error(DriverFile *file, int error)
{
    if (file->error == 0) {
        file->error = error;
    }
}

H5FD_t *driver_open(const char *, unsigned, hid_t access, haddr_t)
{
    auto *const *info =
        static_cast<DriverFile *const *>(H5Pget_driver_info(access));
    struct stat status;
    if (info == nullptr || ::fstat((*info)->fd, &status) < 0) {
        return nullptr;
    }
    auto *handle = new (std::nothrow) DriverHandle();
    if (handle == nullptr) {
        return nullptr;
    }
    handle->file = *info;
    handle->end_of_file = static_cast<haddr_t>(status.st_size);
    return &handle->base;
}

herr_t driver_close(H5FD_t *base)
{
    delete handle_of(base);
    return 0;
}

int driver_compare(const H5FD_t *left, const H5FD_t *right)
{
    int a = handle_of(left)->file->fd;
    int b = handle_of(right)->file->fd;
    return (a > b) - (a < b);
}

herr_t driver_query(const H5FD_t *, unsigned long *flags)
{
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA |
             H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA |
             H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

haddr_t driver_get_eoa(const H5FD_t *base, H5FD_mem_t)
{
    return handle_of(base)->end_of_addresses;
}

herr_t driver_set_eoa(H5FD_t *base, H5FD_mem_t, haddr_t address)
{
    handle_of(base)->end_of_addresses = address;
    return 0;
}

haddr_t driver_get_eof(const H5FD_t *base, H5FD_mem_t)
{
    return handle_of(base)->end_of_file;
}

/* Bytes beyond the end of the file read as zeros, as HDF5 expects. */
herr_t driver_read(H5FD_t *base, H5FD_mem_t, hid_t, haddr_t address,
                   std::size_t size, void *buffer)
{
    DriverHandle *handle = handle_of(base);
    std::size_t there = 0;
    if (address < handle->end_of_file) {
        there = std::min<haddr_t>(size, handle->end_of_file - address);
    }
    std::memset(static_cast<char *>(buffer) + there, 0, size - there);
    if (handle->file->tables != nullptr) {
        handle->file->tables->read(address, {static_cast<std::byte *>(buffer), there});
        return 0;
    }
    return read_exactly(handle->file->fd, buffer, there, address) == 0 ? 0 : -1;
}

herr_t driver_write(H5FD_t *base, H5FD_mem_t type, hid_t, haddr_t address,
                    std::size_t size, const void *buffer)
{
    DriverHandle *handle = handle_of(base);
    DriverFile *file = handle->file;
    handle->end_of_file = std::max(handle->end_of_file, address + size);
    if (type == H5FD_MEM_DRAW && buffer == file->to_place) {
        file->to_place = nullptr;
        file->placed_at = address;
        return 0;
    }
    bool strikes = fault_strikes("image-write-enospc") ||
                   (file->closing && fault_strikes("image-close-enospc"));
    int error = 0;
    if (strikes) {
        error = ENOSPC;
    } else if (file->tables != nullptr) {
        file->tables->write(address, {static_cast<const std::byte *>(buffer), size});
    } else {
        error = write_exactly(file->fd, buffer, size, address);
    }
    if (error != 0) {
        note_error(file, error);
    }
    return 0;
}

herr_t driver_truncate(H5FD_t *base, hid_t, hbool_t)
{
    DriverHandle *handle = handle_of(base);
    /* With tables in memory (sealed file), HDF5's end of addresses does not set
     * the length of the file. */
    if (handle->end_of_addresses != handle->end_of_file || handle->file->tables != nullptr) {
        auto size = static_cast<off_t>(handle->end_of_addresses);
        if (::ftruncate(handle->file->fd, size) < 0) {
            note_error(handle->file, errno);
        }
        handle->end_of_file = handle->end_of_addresses;
    }
    return 0;
}

H5FD_class_t make_driver_class()
{
    H5FD_class_t driver = {};
#if H5_VERSION_GE(1, 14, 0)
    driver.version = H5FD_CLASS_VERSION;
    driver.value = static_cast<H5FD_class_value_t>(512); /* private range */
#endif
    driver.name = "ckpt";
    driver.maxaddr = (static_cast<haddr_t>(1) << 62) - 1;
    driver.fc_degree = H5F_CLOSE_STRONG;
    driver.fapl_size = sizeof(DriverFile *);
    driver.open = driver_open;
    driver.close = driver_close;
    driver.cmp = driver_compare;
    driver.query = driver_query;
    driver.get_eoa = driver_get_eoa;
    driver.set_eoa = driver_set_eoa;
    driver.get_eof = driver_get_eof;
    driver.read = driver_read;
    driver.write = driver_write;
    driver.truncate = driver_truncate;
    const H5FD_mem_t map[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
    std::copy(std::begin(map), std::end(map), std::begin(driver.fl_map));
    return driver;
}

} // namespace

Hdf5Id make_driver_access(DriverFile &file)
{
    CKPT_EXPECT(file.fd >= 0);
    static const H5FD_class_t driver = make_driver_class();
    static const hid_t driver_id = require_hdf5(
        H5FDregister(&driver), "cannot register our HDF5 file driver");
    DriverFile *info = &file;
    Hdf5Id access(require_hdf5(H5Pcreate(H5P_FILE_ACCESS),
                               "cannot make HDF5 access properties"));
    require_hdf5(H5Pset_driver(access.get(), driver_id, &info),
                 "cannot choose our HDF5 file driver");
    return access;
}

} // namespace ckpt
