/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hdf5_file_driver.hpp - how HDF5 accesses a node file: through a descriptor that the
 * caller has opened and checked, with writes that never fail for HDF5.
 *
 * HDF5 cannot close a file whose last writes fail: it keeps the file open, retries, and
 * loops at exit. So this driver records the first error and reports success to HDF5. The
 * writer checks the record and abandons the file.
 */
#pragma once

#include "image/hdf5/hdf5_support.hpp"
#include "image/seal/table_memory.hpp"

#include <cstdint>

namespace ckpt
{

/* Shared by the driver and its user; must outlive the HDF5 file. */
struct DriverFile {
    int fd = -1;
    int error = 0;        /* errno of the first failed write or truncation */
    bool closing = false; /* set by the user before H5Fclose (fault point) */
    /* Raw data for which HDF5 only allocates space. The caller that passed it to HDF5
     * writes it there after releasing the lock. Null: the space has been allocated. */
    const void *to_place = nullptr;
    std::uint64_t placed_at = 0;
    /* Of a sealed file: HDF5 reads and writes its tables there; the file has them
     * encrypted. */
    TableMemory *tables = nullptr;
};

/* Creates a file access property list for this driver. The caller holds a Hdf5Lock. */
Hdf5Id make_driver_access(DriverFile &file);

} // namespace ckpt
