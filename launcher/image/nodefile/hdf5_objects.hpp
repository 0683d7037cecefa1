/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hdf5_objects.hpp - writes and reads groups, record tables and texts.
 *
 * All functions throw Error with HDF5's text; the caller holds a Hdf5Lock.
 */
#pragma once

#include "image/hdf5/hdf5_support.hpp"
#include "image/nodefile/node_file_layout.hpp"

#include <string>
#include <vector>

namespace ckpt
{

/* Creates a group that stores its members as a compact list as long as they are few. */
Hdf5Id make_group(hid_t parent, const std::string &name);
Hdf5Id open_group(hid_t parent, const std::string &name);
bool has_member(hid_t parent, const std::string &name);

/* Writes a dataset of fixed size as a whole. */
void write_array(hid_t parent, const char *name, const Hdf5Id &type,
                 std::size_t count, const void *data);

/* Opens a one-dimensional dataset of at most `limit` elements of exactly this
 * type; sets `count`. */
Hdf5Id open_array(hid_t parent, const char *name, const Hdf5Id &type,
                  std::size_t limit, std::size_t &count);
/* The same for a dataset that the caller reads whole. The caller may safely allocate memory for
 * `count` elements: `count` is checked against the size of the file. */
Hdf5Id open_table(hid_t parent, const char *name, const Hdf5Id &type, std::size_t limit,
                  std::size_t &count);
void read_array(const Hdf5Id &dataset, const char *name, const Hdf5Id &type,
                void *data);

/* A scalar text of at least one byte, which may contain NUL. */
void write_text(hid_t parent, const char *name, const std::string &text);
std::string read_text(hid_t parent, const char *name, std::size_t limit);

void write_text_attribute(hid_t parent, const char *name,
                          const std::string &text);
std::string read_text_attribute(hid_t parent, const char *name,
                                std::size_t limit);
void write_number_attribute(hid_t parent, const char *name,
                            std::uint64_t number);
std::uint64_t read_number_attribute(hid_t parent, const char *name);
bool has_attribute(hid_t parent, const char *name);

/* A table of records; an empty table is omitted from the file. */
template <typename T>
void write_records(hid_t parent, const char *name,
                   const std::vector<T> &records)
{
    if (!records.empty()) {
        write_array(parent, name, make_record_type<T>(), records.size(),
                    records.data());
    }
}

template <typename T>
std::vector<T> read_records(hid_t parent, const char *name, std::size_t limit)
{
    if (!has_member(parent, name)) {
        return {};
    }
    Hdf5Id type = make_record_type<T>();
    std::size_t count = 0;
    Hdf5Id dataset = open_table(parent, name, type, limit, count);
    std::vector<T> records(count);
    read_array(dataset, name, type, records.data());
    return records;
}

} // namespace ckpt
