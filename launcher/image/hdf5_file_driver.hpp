/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hdf5_file_driver.hpp - how HDF5 reaches a node file: through a descriptor
 * that we opened and checked, and without ever failing in a write.
 *
 * HDF5 cannot close a file when its last writes fail: it keeps the file open,
 * tries again, and loops at exit. So this driver notes the first error and
 * lets HDF5 go on; the writer looks at the note and gives up the file.
 */
#pragma once

#include "image/hdf5_support.hpp"
#include "image/table_memory.hpp"

#include <cstdint>

namespace ckpt
{

/* What driver and user share; must outlive the HDF5 file. */
struct DriverFile {
    int fd = -1;
    int error = 0; /* errno of the first failed write or truncation */
    bool closing = false; /* set by the user before H5Fclose (fault point) */
    /* Raw data that HDF5 only finds a place for; who gave it to HDF5 writes it there, when
     * the lock is free again. Null: the place has been found. */
    const void *to_place = nullptr;
    std::uint64_t placed_at = 0;
    /* Of a sealed file: what HDF5 reads and writes is there; the file has it encrypted. */
    TableMemory *tables = nullptr;
};

/* A file access property list for this driver. Caller holds a Hdf5Lock. */
Hdf5Id make_driver_access(DriverFile &file);

} // namespace ckpt
