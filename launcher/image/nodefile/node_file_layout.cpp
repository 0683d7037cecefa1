/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_file_layout.cpp - the record types and the header of a node file.
 */
#include "config.h"
#include "image/nodefile/node_file_layout.hpp"

#include "common/checksum.hpp"
#include "common/error.hpp"
#include "common/invariant.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <type_traits>

namespace ckpt
{

namespace
{

/* Returns HDF5's little-endian type for a member of a record. */
template <typename Member>
Hdf5Id make_member_type()
{
    using Element = std::remove_all_extents_t<Member>;
    if constexpr (std::is_same_v<Element, char>) {
        Hdf5Id type(H5Tcopy(H5T_C_S1));
        H5Tset_size(type.get(), sizeof(Member));
        return type;
    } else if constexpr (std::is_same_v<Member, std::uint16_t>) {
        return Hdf5Id(H5Tcopy(H5T_STD_U16LE));
    } else {
        constexpr bool is_signed = std::is_signed_v<Element>;
        static_assert(sizeof(Element) == 4 || sizeof(Element) == 8);
        hid_t scalar = sizeof(Element) == 4
                           ? (is_signed ? H5T_STD_I32LE : H5T_STD_U32LE)
                           : (is_signed ? H5T_STD_I64LE : H5T_STD_U64LE);
        if constexpr (std::is_array_v<Member>) {
            hsize_t count = std::extent_v<Member>;
            return Hdf5Id(H5Tarray_create2(scalar, 1, &count));
        } else {
            return Hdf5Id(H5Tcopy(scalar));
        }
    }
}

/* Builds a compound type, member by member. */
class RecordType
{
  public:
    explicit RecordType(std::size_t size)
        : type_(require_hdf5(H5Tcreate(H5T_COMPOUND, size),
                             "cannot make a record type"))
    {
    }

    template <typename Member>
    void add(const char *name, std::size_t offset)
    {
        Hdf5Id member = make_member_type<Member>();
        require_hdf5(H5Tinsert(type_.get(), name, offset, member.get()),
                     "cannot make a record type");
    }

    Hdf5Id take() { return std::move(type_); }

  private:
    Hdf5Id type_;
};

constexpr const char *header_format = "ckpt node file\n"
                                      "format %u\n"
                                      "bytes %020" PRIu64 "\n"
                                      "extents %020" PRIu64 "\n"
                                      "checksum %016" PRIx64 "\n";
/* The additional fields in the header of a sealed file. */
constexpr const char *sealed_format = "seals %020" PRIu64 "\n"
                                      "key %s\n"
                                      "salt %s\n"
                                      "checkpoint %s\n";
constexpr const char *sealed_pattern = "seals %" SCNu64 " key %16[0-9a-f] salt %64[0-9a-f] "
                                       "checkpoint %255[^\n]";

} // namespace

#define MEMBER(record, member) \
    add<decltype(record::member)>(#member, offsetof(record, member))
#define LAYOUT_MEMBER(member)                      \
    add<decltype(ckpt_process_layout::member)>(    \
        #member, offsetof(ckpt_snapshot, layout) + \
                     offsetof(ckpt_process_layout, member))
#define XSAVE_MEMBER(member)           \
    add<decltype(ckpt_xsave::member)>( \
        "xsave_" #member,              \
        offsetof(ckpt_snapshot, xsave) + offsetof(ckpt_xsave, member))

template <>
Hdf5Id make_record_type<ckpt_snapshot>()
{
    static_assert(std::has_unique_object_representations_v<ckpt_snapshot>);
    RecordType type(sizeof(ckpt_snapshot));
    type.MEMBER(ckpt_snapshot, magic);
    type.MEMBER(ckpt_snapshot, version);
    type.MEMBER(ckpt_snapshot, resume_entry);
    type.MEMBER(ckpt_snapshot, resume_stack);
    type.MEMBER(ckpt_snapshot, resume_thread_pointer);
    type.LAYOUT_MEMBER(start_code);
    type.LAYOUT_MEMBER(end_code);
    type.LAYOUT_MEMBER(start_data);
    type.LAYOUT_MEMBER(end_data);
    type.LAYOUT_MEMBER(start_brk);
    type.LAYOUT_MEMBER(brk);
    type.LAYOUT_MEMBER(start_stack);
    type.LAYOUT_MEMBER(arg_start);
    type.LAYOUT_MEMBER(arg_end);
    type.LAYOUT_MEMBER(env_start);
    type.LAYOUT_MEMBER(env_end);
    type.LAYOUT_MEMBER(auxv);
    type.LAYOUT_MEMBER(auxv_size);
    type.LAYOUT_MEMBER(vdso_start);
    type.LAYOUT_MEMBER(vdso_end);
    type.MEMBER(ckpt_snapshot, regions);
    type.MEMBER(ckpt_snapshot, threads);
    type.MEMBER(ckpt_snapshot, files);
    type.MEMBER(ckpt_snapshot, strings);
    type.MEMBER(ckpt_snapshot, strings_size);
    type.MEMBER(ckpt_snapshot, summary);
    type.MEMBER(ckpt_snapshot, summary_size);
    type.MEMBER(ckpt_snapshot, region_count);
    type.MEMBER(ckpt_snapshot, thread_count);
    type.MEMBER(ckpt_snapshot, file_count);
    type.MEMBER(ckpt_snapshot, pid);
    type.MEMBER(ckpt_snapshot, rank);
    type.MEMBER(ckpt_snapshot, rank_count);
    type.MEMBER(ckpt_snapshot, umask);
    type.MEMBER(ckpt_snapshot, working_directory);
    type.MEMBER(ckpt_snapshot, executable);
    /* The name from before pages could be excluded; kept so that older images
     * remain readable. */
    type.add<ckpt_string_t>("reserved", offsetof(ckpt_snapshot, excluded));
    type.MEMBER(ckpt_snapshot, cpu_features);
    type.XSAVE_MEMBER(dynamic);
    type.XSAVE_MEMBER(permitted);
    type.XSAVE_MEMBER(offset);
    type.XSAVE_MEMBER(size);
    return type.take();
}

template <>
Hdf5Id make_record_type<ckpt_region>()
{
    static_assert(std::has_unique_object_representations_v<ckpt_region>);
    RecordType type(sizeof(ckpt_region));
    type.MEMBER(ckpt_region, start);
    type.MEMBER(ckpt_region, end);
    type.MEMBER(ckpt_region, file_offset);
    type.MEMBER(ckpt_region, device);
    type.MEMBER(ckpt_region, inode);
    type.MEMBER(ckpt_region, protection);
    type.MEMBER(ckpt_region, kind);
    type.MEMBER(ckpt_region, path);
    type.MEMBER(ckpt_region, mode);
    type.MEMBER(ckpt_region, sharers);
    return type.take();
}

template <>
Hdf5Id make_record_type<ckpt_thread>()
{
    static_assert(std::has_unique_object_representations_v<ckpt_thread>);
    RecordType type(sizeof(ckpt_thread));
    type.MEMBER(ckpt_thread, context);
    type.MEMBER(ckpt_thread, thread_pointer);
    type.MEMBER(ckpt_thread, clear_child_tid);
    type.MEMBER(ckpt_thread, robust_list);
    type.MEMBER(ckpt_thread, robust_list_size);
    type.MEMBER(ckpt_thread, rseq);
    type.MEMBER(ckpt_thread, rseq_size);
    type.MEMBER(ckpt_thread, rseq_signature);
    type.MEMBER(ckpt_thread, tid);
    type.MEMBER(ckpt_thread, reserved);
    type.MEMBER(ckpt_thread, name);
    return type.take();
}

template <>
Hdf5Id make_record_type<ckpt_file>()
{
    static_assert(std::has_unique_object_representations_v<ckpt_file>);
    RecordType type(sizeof(ckpt_file));
    type.MEMBER(ckpt_file, offset);
    type.MEMBER(ckpt_file, size);
    type.MEMBER(ckpt_file, device);
    type.MEMBER(ckpt_file, inode);
    type.MEMBER(ckpt_file, value);
    type.MEMBER(ckpt_file, payload);
    type.MEMBER(ckpt_file, payload_size);
    type.MEMBER(ckpt_file, descriptor);
    type.MEMBER(ckpt_file, kind);
    type.MEMBER(ckpt_file, descriptor_flags);
    type.MEMBER(ckpt_file, status_flags);
    type.MEMBER(ckpt_file, same_as);
    type.MEMBER(ckpt_file, detail);
    type.MEMBER(ckpt_file, path);
    type.MEMBER(ckpt_file, sharers);
    return type.take();
}

template <>
Hdf5Id make_record_type<FileReference>()
{
    static_assert(std::has_unique_object_representations_v<FileReference>);
    RecordType type(sizeof(FileReference));
    type.MEMBER(FileReference, size);
    type.MEMBER(FileReference, mtime_ns);
    type.MEMBER(FileReference, checksum);
    type.MEMBER(FileReference, region);
    type.MEMBER(FileReference, reserved);
    return type.take();
}

template <>
Hdf5Id make_record_type<ChunkRecord>()
{
    static_assert(std::has_unique_object_representations_v<ChunkRecord>);
    RecordType type(sizeof(ChunkRecord));
    type.MEMBER(ChunkRecord, index);
    type.MEMBER(ChunkRecord, offset);
    type.MEMBER(ChunkRecord, checksum);
    type.MEMBER(ChunkRecord, region);
    type.MEMBER(ChunkRecord, size);
    /* The name in the file is older than the second codec. */
    type.add<std::uint32_t>("filter_mask", offsetof(ChunkRecord, coding));
    type.MEMBER(ChunkRecord, reserved);
    return type.take();
}

template <>
Hdf5Id make_record_type<PageRun>()
{
    static_assert(std::has_unique_object_representations_v<PageRun>);
    RecordType type(sizeof(PageRun));
    type.MEMBER(PageRun, start);
    type.MEMBER(PageRun, end);
    type.MEMBER(PageRun, position);
    type.MEMBER(PageRun, kind);
    type.MEMBER(PageRun, reserved);
    return type.take();
}

template <>
Hdf5Id make_record_type<SharedRun>()
{
    static_assert(std::has_unique_object_representations_v<SharedRun>);
    RecordType type(sizeof(SharedRun));
    type.MEMBER(SharedRun, start);
    type.MEMBER(SharedRun, end);
    type.MEMBER(SharedRun, there);
    type.MEMBER(SharedRun, rank);
    type.MEMBER(SharedRun, reserved);
    return type.take();
}

#undef MEMBER
#undef LAYOUT_MEMBER

std::string node_file_names::rank_group(int rank)
{
    return fmt::format("rank{}", rank);
}

std::string node_file_names::memory_dataset(const ckpt_region &region)
{
    return fmt::format("{:x}", region.start);
}

std::string NodeFileHeader::text() const
{
    char buffer[header_size] = {};
    std::snprintf(buffer, sizeof(buffer), header_format, version, bytes,
                  extent_count, checksum);
    if (is_sealed()) {
        const std::size_t length = std::strlen(buffer);
        std::snprintf(buffer + length, sizeof(buffer) - length, sealed_format, seal_count,
                      key.c_str(), salt.c_str(), owner.c_str());
    }
    return std::string(buffer, sizeof(buffer));
}

namespace
{

/* Parses the fields of a sealed file; returns false if they are missing or
 * invalid. */
bool parse_seal(const std::string &text, NodeFileHeader &header)
{
    char key[17] = {}, salt[65] = {}, owner[longest_owner + 1] = {};
    const std::size_t start = text.find("\nseals ");
    const int fields = start == text.npos
                           ? 0
                           : std::sscanf(text.c_str() + start + 1, sealed_pattern,
                                         &header.seal_count, key, salt, owner);
    header.key = key;
    header.salt = salt;
    header.owner = owner;
    return fields == 4;
}

} // namespace

NodeFileHeader NodeFileHeader::parse(std::string_view text,
                                     const std::string &path)
{
    NodeFileHeader header;
    std::string copy(text);
    int fields =
        std::sscanf(copy.c_str(), header_format, &header.version, &header.bytes,
                    &header.extent_count, &header.checksum);
    if (fields < 1) {
        fail("{} is not a node file of ckpt", path);
    }
    if (header.version > node_file_version ||
        header.version < first_node_file_version) {
        fail("{} was written by {} version {} of the format; this program "
             "reads versions {} to {}",
             path, header.version > node_file_version ? "a newer" : "an older",
             header.version, first_node_file_version, node_file_version);
    }
    const bool is_whole = fields == 4 && (!header.is_sealed() || parse_seal(copy, header));
    if (!is_whole || header.text() != text) {
        fail("{}: its header is damaged", path);
    }
    return header;
}

void merge_extents(std::vector<Extent> &extents)
{
    std::ranges::sort(extents, {}, &Extent::offset);
    std::size_t kept = 0;
    for (const Extent &extent : extents) {
        if (kept > 0 && extents[kept - 1].offset + extents[kept - 1].length ==
                            extent.offset) {
            extents[kept - 1].length += extent.length;
        } else {
            extents[kept++] = extent;
        }
    }
    extents.resize(kept);
}

std::uint64_t checksum_outside(int fd, std::uint64_t bytes,
                               const std::vector<Extent> &extents,
                               const std::string &path)
{
    Checksum checksum;
    auto add = [&](std::uint64_t from, std::uint64_t to) {
        int error = checksum.add_file(fd, from, to);
        if (error != 0) {
            fail_errno(error, "cannot read {}", path);
        }
    };
    std::uint64_t position = header_size;
    for (const Extent &extent : extents) {
        CKPT_EXPECT(position <= extent.offset); /* ascending, without overlaps */
        add(position, extent.offset);
        position = extent.offset + extent.length;
    }
    add(position, bytes);
    CKPT_EXPECT(position <= bytes);
    return checksum.value();
}

} // namespace ckpt
