/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * restore_loader.c - test program: becomes the process in a raw image.
 *
 *     restore_loader IMAGE [sealed-vdso] [foreign-vdso] [log MESSAGES]
 *
 * foreign-vdso: pretends that the image comes from another kernel.
 * log: gives the process a message log.
 */
#include "raw_image.h"

#include "ckpt/wire.h"
#include "files/files.h"
#include "restore/restore.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

struct image {
    const struct raw_header *header;
    const struct ckpt_region *regions;
    const struct ckpt_file *files;
    const char *strings;
    const struct raw_page *pages;
    void **staged; /* one per region */
};

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "restore_loader: %s: %s\n", what, why);
    exit(1);
}

static void open_image(struct image *image, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    const char *bytes;

    if (fd < 0 || fstat(fd, &status) != 0) {
        fail(path, strerror(errno));
    }
    bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED) {
        fail(path, strerror(errno));
    }
    close(fd);
    image->header = (const struct raw_header *)bytes;
    bytes += sizeof *image->header;
    image->regions = (const struct ckpt_region *)bytes;
    bytes += image->header->snapshot.region_count * sizeof *image->regions;
    image->files = (const struct ckpt_file *)bytes;
    bytes += image->header->snapshot.file_count * sizeof *image->files;
    image->strings = bytes;
    bytes += image->header->snapshot.strings_size;
    image->pages = (const struct raw_page *)bytes;
    image->staged =
        calloc(image->header->snapshot.region_count, sizeof *image->staged);
}

static void stage(struct image *image, struct ckpt_restore *restore)
{
    struct ckpt_failure failure;

    for (uint64_t i = 0; i < image->header->page_count; i++) {
        const struct raw_page *page = &image->pages[i];
        const struct ckpt_region *region = &image->regions[page->region];
        void **staged = &image->staged[page->region];

        if (*staged == NULL &&
            ckpt_restore_stage(restore, page->region, 1, staged, &failure)) {
            fail("stage", failure.text);
        }
        memcpy((char *)*staged + (page->address - region->start), page->bytes,
               RAW_PAGE_SIZE);
    }
}

/* Changes an unused byte of the saved vDSO. */
static void make_vdso_foreign(struct image *image)
{
    uint64_t vdso = image->header->snapshot.layout.vdso_start;

    for (uint32_t i = 0; i < image->header->snapshot.region_count; i++) {
        const struct ckpt_region *region = &image->regions[i];

        if (vdso >= region->start && vdso < region->end) {
            char *elf = (char *)image->staged[i] + (vdso - region->start);
            elf[15] ^= 1; /* e_ident padding */
        }
    }
}

static const void *payload(void *argument, uint64_t address, uint64_t size)
{
    const struct image *image = argument;

    for (uint32_t i = 0; i < image->header->snapshot.region_count; i++) {
        const struct ckpt_region *region = &image->regions[i];

        if (address >= region->start && address + size <= region->end &&
            image->staged[i] != NULL) {
            return (char *)image->staged[i] + (address - region->start);
        }
    }
    return NULL;
}

static uint64_t size_in_log(uint64_t message)
{
    return sizeof(struct ckpt_logged_message) + message * 1000;
}

static void make_message_log(struct ckpt_restore *restore, uint64_t messages)
{
    struct ckpt_failure failure;
    uint64_t size = 0;
    void *log;
    char *at;

    for (uint64_t i = 0; i < messages; i++) {
        size += size_in_log(i);
    }
    if (ckpt_restore_message_log(restore, size, &log, &failure) != 0) {
        fail("log", failure.text);
    }
    at = log;
    for (uint64_t i = 0; i < messages; i++) {
        struct ckpt_logged_message header = {
            .magic = CKPT_LOGGED_MAGIC, .order = i, .size = i * 1000};

        memcpy(at, &header, sizeof header);
        memset(at + sizeof header, (int)i, header.size);
        at += size_in_log(i);
    }
    if (ckpt_restore_message_log(restore, size, &log, &failure) != -EEXIST) {
        fail("log", "there can be two");
    }
}

/* Imitates a kernel that seals the mappings that it makes itself. */
static void seal_vdso(void)
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");

    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long start, end;

        if ((strstr(line, "[vdso]") != NULL || strstr(line, "[vvar") != NULL) &&
            (sscanf(line, "%lx-%lx", &start, &end) != 2 ||
             syscall(462, start, end - start, 0) != 0)) { /* mseal() */
            fail("seal", strerror(errno));
        }
    }
    if (maps == NULL || fclose(maps) != 0) {
        fail("seal", "there is no list of mappings");
    }
}

static void make_options(struct image *image, struct ckpt_restore *restore,
                         char **options)
{
    for (; *options != NULL; options++) {
        if (strcmp(*options, "sealed-vdso") == 0) {
            continue; /* done at the start */
        } else if (strcmp(*options, "foreign-vdso") == 0) {
            make_vdso_foreign(image);
        } else if (strcmp(*options, "log") == 0 && options[1] != NULL) {
            make_message_log(restore, strtoul(*++options, NULL, 10));
        } else {
            fail(*options, "unknown option");
        }
    }
}

int main(int argc, char **argv)
{
    struct ckpt_resume_info info = {.checkpoint = "test/1"};
    struct ckpt_restore *restore;
    struct ckpt_failure failure;
    struct ckpt_saved_files files;
    struct image image;

    if (argc < 2) {
        fail("usage", "restore_loader IMAGE [sealed-vdso] [foreign-vdso] [log MESSAGES]");
    }
    if (argc > 2 && strcmp(argv[2], "sealed-vdso") == 0) {
        seal_vdso();
    }
    open_image(&image, argv[1]);
    switch (ckpt_restore_open(&image.header->snapshot, image.regions, image.strings, &restore,
                              &failure)) {
    case 0:
        break;
    case -EAGAIN: /* as ckpt-restart does: other addresses may be better */
        personality(0);
        execv(argv[0], argv);
        fail("execv", strerror(errno));
        break;
    default:
        fail("open", failure.text);
    }
    stage(&image, restore);
    make_options(&image, restore, argv + 2);
    umask((mode_t)image.header->snapshot.umask);
    files = (struct ckpt_saved_files){
        .files = image.files,
        .count = image.header->snapshot.file_count,
        .strings = image.strings,
        .payload = payload,
        .argument = &image,
    };
    if (ckpt_files_restore(&files, NULL, 0, &failure) != 0) {
        fail("files", failure.text);
    }
    ckpt_restore_commit(restore, environ, &info, &failure);
    fail("commit", failure.text);
}
