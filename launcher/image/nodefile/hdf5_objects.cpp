/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hdf5_objects.cpp - groups, record tables, texts and attributes.
 */
#include "config.h"
#include "image/nodefile/hdf5_objects.hpp"

#include "common/error.hpp"

#include <algorithm>

namespace ckpt
{

namespace
{

/* Groups with up to this many members are stored as one compact list. HDF5's time to convert
 * a list of n members into an index grows as n^4. */
constexpr unsigned compact_links = 16;

/* Returns a type for texts of fixed length, which may contain NUL. */
Hdf5Id make_text_type(std::size_t size)
{
    Hdf5Id type(require_hdf5(H5Tcopy(H5T_C_S1), "cannot make a text type"));
    require_hdf5(H5Tset_size(type.get(), size), "cannot make a text type");
    require_hdf5(H5Tset_strpad(type.get(), H5T_STR_NULLPAD),
                 "cannot make a text type");
    return type;
}

Hdf5Id make_scalar()
{
    return Hdf5Id(require_hdf5(H5Screate(H5S_SCALAR), "cannot make a scalar"));
}

Hdf5Id create_dataset(hid_t parent, const char *name, const Hdf5Id &type,
                      const Hdf5Id &space)
{
    std::string what = fmt::format("cannot make dataset {}", name);
    Hdf5Id properties(require_hdf5(H5Pcreate(H5P_DATASET_CREATE), what));
    require_hdf5(H5Pset_obj_track_times(properties.get(), false), what);
    return Hdf5Id(require_hdf5(H5Dcreate2(parent, name, type.get(),
                                          space.get(), H5P_DEFAULT,
                                          properties.get(), H5P_DEFAULT),
                               what));
}

void write_dataset(const Hdf5Id &dataset, const char *name, const Hdf5Id &type,
                   const void *data)
{
    require_hdf5(H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL,
                          H5P_DEFAULT, data),
                 fmt::format("cannot write dataset {}", name));
}

Hdf5Id open_dataset(hid_t parent, const char *name)
{
    return Hdf5Id(require_hdf5(H5Dopen2(parent, name, H5P_DEFAULT),
                               fmt::format("cannot open dataset {}", name)));
}

void write_attribute(hid_t parent, const char *name, const Hdf5Id &type,
                     const void *data)
{
    std::string what = fmt::format("cannot write attribute {}", name);
    Hdf5Id attribute(require_hdf5(H5Acreate2(parent, name, type.get(),
                                             make_scalar().get(), H5P_DEFAULT,
                                             H5P_DEFAULT),
                                  what));
    require_hdf5(H5Awrite(attribute.get(), type.get(), data), what);
}

Hdf5Id open_attribute(hid_t parent, const char *name)
{
    return Hdf5Id(require_hdf5(H5Aopen(parent, name, H5P_DEFAULT),
                               fmt::format("cannot open attribute {}", name)));
}

/* Returns the size of a text type that make_text_type() could have made. */
std::size_t text_size(const Hdf5Id &type, const char *name, std::size_t limit)
{
    std::size_t size = H5Tget_size(type.get());
    if (size == 0 || size > limit ||
        H5Tequal(type.get(), make_text_type(size).get()) <= 0) {
        fail("{} is not a text of at most {} bytes", name, limit);
    }
    return size;
}

/* Returns the size in bytes. */
hsize_t size_of_file(const Hdf5Id &dataset)
{
    Hdf5Id file(H5Iget_file_id(dataset.get()));
    hsize_t size = 0;

    require_hdf5(H5Fget_filesize(file.get(), &size), "the size of the file is not known");
    return size;
}

} // namespace

Hdf5Id make_group(hid_t parent, const std::string &name)
{
    std::string what = fmt::format("cannot make group {}", name);
    Hdf5Id properties(require_hdf5(H5Pcreate(H5P_GROUP_CREATE), what));
    require_hdf5(H5Pset_link_phase_change(properties.get(), compact_links,
                                          compact_links / 2),
                 what);
    return Hdf5Id(require_hdf5(H5Gcreate2(parent, name.c_str(), H5P_DEFAULT,
                                          properties.get(), H5P_DEFAULT),
                               what));
}

Hdf5Id open_group(hid_t parent, const std::string &name)
{
    return Hdf5Id(require_hdf5(H5Gopen2(parent, name.c_str(), H5P_DEFAULT),
                               fmt::format("cannot open group {}", name)));
}

bool has_member(hid_t parent, const std::string &name)
{
    return require_hdf5(H5Lexists(parent, name.c_str(), H5P_DEFAULT),
                        fmt::format("cannot look for {}", name)) > 0;
}

void write_array(hid_t parent, const char *name, const Hdf5Id &type,
                 std::size_t count, const void *data)
{
    hsize_t size = count;
    Hdf5Id space(require_hdf5(H5Screate_simple(1, &size, nullptr),
                              "cannot make a table"));
    write_dataset(create_dataset(parent, name, type, space), name, type, data);
}

Hdf5Id open_array(hid_t parent, const char *name, const Hdf5Id &type,
                  std::size_t limit, std::size_t &count)
{
    Hdf5Id dataset = open_dataset(parent, name);
    Hdf5Id stored_type(H5Dget_type(dataset.get()));
    if (H5Tequal(stored_type.get(), type.get()) <= 0) {
        fail("dataset {} has other fields than expected", name);
    }
    Hdf5Id space(H5Dget_space(dataset.get()));
    hsize_t size = 0;
    if (H5Sget_simple_extent_ndims(space.get()) != 1 ||
        H5Sget_simple_extent_dims(space.get(), &size, nullptr) < 0 ||
        size > limit) {
        fail("dataset {} is not a list of at most {} elements", name, limit);
    }
    count = size;
    return dataset;
}

Hdf5Id open_table(hid_t parent, const char *name, const Hdf5Id &type, std::size_t limit,
                  std::size_t &count)
{
    Hdf5Id dataset = open_array(parent, name, type, limit, count);
    if (count > size_of_file(dataset) / H5Tget_size(type.get())) {
        fail("dataset {} has {} elements, more than fit into the file", name, count);
    }
    return dataset;
}

void read_array(const Hdf5Id &dataset, const char *name, const Hdf5Id &type,
                void *data)
{
    require_hdf5(H5Dread(dataset.get(), type.get(), H5S_ALL, H5S_ALL,
                         H5P_DEFAULT, data),
                 fmt::format("cannot read dataset {}", name));
}

void write_text(hid_t parent, const char *name, const std::string &text)
{
    Hdf5Id type = make_text_type(std::max<std::size_t>(1, text.size()));
    write_dataset(create_dataset(parent, name, type, make_scalar()), name, type,
                  text.c_str());
}

std::string read_text(hid_t parent, const char *name, std::size_t limit)
{
    Hdf5Id dataset = open_dataset(parent, name);
    Hdf5Id type(H5Dget_type(dataset.get()));
    Hdf5Id space(H5Dget_space(dataset.get()));
    std::string text(text_size(type, name, limit), '\0');
    if (H5Sget_simple_extent_npoints(space.get()) != 1) {
        fail("dataset {} is not one text", name);
    }
    read_array(dataset, name, type, text.data());
    return text;
}

void write_text_attribute(hid_t parent, const char *name,
                          const std::string &text)
{
    write_attribute(parent, name,
                    make_text_type(std::max<std::size_t>(1, text.size())),
                    text.c_str());
}

std::string read_text_attribute(hid_t parent, const char *name,
                                std::size_t limit)
{
    Hdf5Id attribute = open_attribute(parent, name);
    Hdf5Id type(H5Aget_type(attribute.get()));
    Hdf5Id space(H5Aget_space(attribute.get()));
    std::string text(text_size(type, name, limit), '\0');
    if (H5Sget_simple_extent_npoints(space.get()) != 1) {
        fail("attribute {} is not one text", name);
    }
    require_hdf5(H5Aread(attribute.get(), type.get(), text.data()),
                 fmt::format("cannot read attribute {}", name));
    return text;
}

void write_number_attribute(hid_t parent, const char *name,
                            std::uint64_t number)
{
    write_attribute(parent, name, Hdf5Id(H5Tcopy(H5T_STD_U64LE)), &number);
}

bool has_attribute(hid_t parent, const char *name)
{
    return require_hdf5(H5Aexists(parent, name),
                        fmt::format("cannot look for attribute {}", name)) > 0;
}

std::uint64_t read_number_attribute(hid_t parent, const char *name)
{
    Hdf5Id attribute = open_attribute(parent, name);
    Hdf5Id space(H5Aget_space(attribute.get()));
    std::uint64_t number = 0;
    if (H5Sget_simple_extent_npoints(space.get()) != 1) {
        fail("attribute {} is not one number", name);
    }
    require_hdf5(H5Aread(attribute.get(), H5T_NATIVE_UINT64, &number),
                 fmt::format("cannot read attribute {}", name));
    return number;
}

} // namespace ckpt
