/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_objects.cpp - files that several ranks of a node share through
 * mappings.
 */
#include "config.h"
#include "image/memory/shared_objects.hpp"

#include "common/error.hpp"

#include <algorithm>

namespace ckpt
{

namespace
{

bool is_shared_file(const ckpt_region &region)
{
    return region.kind == CKPT_REGION_SHARED && region.inode != 0;
}

bool is_file_mapping(const ckpt_region &region)
{
    return region.kind == CKPT_REGION_FILE ||
           region.kind == CKPT_REGION_FILE_SHARED || is_shared_file(region);
}

bool has_no_name(const ckpt_file &file)
{
    return file.kind == CKPT_FILE_UNNAMED || file.kind == CKPT_FILE_MEMFD;
}

bool may_be_shared(const ckpt_file &file)
{
    return file.kind == CKPT_FILE_REGULAR || has_no_name(file);
}

} // namespace

void SharedObjects::survey(const RankImage &image, int rank)
{
    for (const ckpt_region &region : image.regions) {
        if (!is_shared_file(region) &&
            region.kind != CKPT_REGION_FILE_SHARED) {
            continue;
        }
        Object &object = objects_[{region.inode, image.text(region.path)}];
        object.ranks.insert(rank);
        if (is_shared_file(region)) {
            object.mapped = true;
            object.size = std::max(object.size, region.device);
            object.mode = region.mode;
        }
    }
    for (const ckpt_file &file : image.files) {
        if (may_be_shared(file)) {
            Object &object = objects_[{file.inode, image.text(file.path)}];
            object.ranks.insert(rank);
            object.mapped |= has_no_name(file); /* its content is saved too */
        }
    }
}

SharedObjects::Object *SharedObjects::find(std::uint64_t inode,
                                           const char *path)
{
    auto found = objects_.find({inode, path});
    return found != objects_.end() && found->second.mapped ? &found->second
                                                           : nullptr;
}

bool SharedObjects::shares(int rank) const
{
    return std::ranges::any_of(objects_, [rank](const auto &entry) {
        return entry.second.is_shared() && entry.second.ranks.contains(rank);
    });
}

bool SharedObjects::any() const
{
    return std::ranges::any_of(objects_, [](const auto &entry) {
        return entry.second.is_shared();
    });
}

/* A region that only reads what other ranks write shares it too. The pages that
 * a private region shows of the file are saved with that region. */
void SharedObjects::distribute_region(const RankImage &image,
                                      ckpt_region &region)
{
    Object *object = is_file_mapping(region)
                         ? find(region.inode, image.text(region.path))
                         : nullptr;
    if (object != nullptr && region.kind == CKPT_REGION_FILE) {
        region.device = 0;
        return;
    }
    if (object == nullptr || !object->is_shared()) {
        return;
    }
    Range range(region.file_offset,
                region.file_offset + (region.end - region.start));
    bool is_saved = std::ranges::any_of(object->saved, [&](const Range &saved) {
        return saved.first <= range.first && saved.second >= range.second;
    });
    region.kind = is_saved ? CKPT_REGION_SHARED_ELSEWHERE : CKPT_REGION_SHARED;
    region.device = object->size;
    region.mode = object->mode;
    region.sharers = object->sharers();
    if (!is_saved) {
        object->saved.push_back(range);
    }
}

void SharedObjects::distribute(RankImage &image)
{
    for (ckpt_region &region : image.regions) {
        distribute_region(image, region);
    }
    for (ckpt_file &file : image.files) {
        const char *path = image.text(file.path);
        const Object *object =
            may_be_shared(file) ? find(file.inode, path) : nullptr;
        if (object != nullptr && object->is_shared()) {
            file.sharers = object->sharers();
        }
    }
}

} // namespace ckpt
