/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mappings.c - list the mapped addresses of this process.
 *
 * Parses "start-end ..." lines byte by byte, so a line may be split between two
 * reads.
 */
#include "base/invariant.h"
#include "config.h"
#include "lower/mappings.h"

#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>

struct reader {
    enum {
        IN_START,
        IN_END,
        IN_REST
    } place;
    uint64_t start;
    uint64_t number; /* the number being read */
    struct ckpt_range *ranges;
    int count;
    int capacity;
};

static int append(struct reader *reader, uint64_t start, uint64_t end)
{
    struct ckpt_range *last;

    CKPT_INVARIANT(start < end);
    if (reader->count > 0) {
        last = &reader->ranges[reader->count - 1];
        CKPT_INVARIANT(last->end <= start);
        if (last->end == start) {
            last->end = end;
            return 0;
        }
    }
    if (reader->count == reader->capacity) {
        return -E2BIG;
    }
    reader->ranges[reader->count++] = (struct ckpt_range){start, end};
    return 0;
}

static int take(struct reader *reader, char c)
{
    int status = 0;

    if (reader->place == IN_REST) {
        if (c == '\n') {
            reader->place = IN_START;
            reader->number = 0;
        }
    } else if (c == '-') {
        reader->start = reader->number;
        reader->number = 0;
        reader->place = IN_END;
    } else if (c == ' ') {
        status = append(reader, reader->start, reader->number);
        reader->place = IN_REST;
    } else {
        reader->number <<= 4;
        reader->number |= (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return status;
}

int ckpt_mappings_read(struct ckpt_range *ranges, int capacity)
{
    struct reader reader = {
        .place = IN_START, .ranges = ranges, .capacity = capacity};
    char buffer[4096];
    long fd, size;
    int status = 0;

    fd = ckpt_sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) {
        return (int)fd;
    }
    do {
        size = ckpt_sys_read((int)fd, buffer, sizeof(buffer));
        for (long i = 0; i < size && status == 0; i++) {
            status = take(&reader, buffer[i]);
        }
    } while (size > 0 && status == 0);
    ckpt_sys_close((int)fd);

    if (size < 0) {
        return (int)size;
    }
    return status != 0 ? status : reader.count;
}
