/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deleted_file.c - temporary files that were unlinked, or never had a name.
 */
#include "probes/probe.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#define SIZE 300000

static int make_deleted(void)
{
    char path[] = "./probe-XXXXXX";
    int fd = mkstemp(path);

    CHECK(fd >= 0);
    for (int i = 0; i < SIZE; i++) {
        char byte = (char)(i * 7 + probe_rank);
        CHECK(i % 1000 != 0 || lseek(fd, i, SEEK_SET) == i);
        CHECK(i % 1000 != 0 || write(fd, &byte, 1) == 1);
    }
    CHECK(ftruncate(fd, SIZE) == 0);
    CHECK(unlink(path) == 0);
    return fd;
}

/* Makes a file without a name, open write-only to append. */
static int make_log(void)
{
    char path[] = "./probe-XXXXXX";
    int made = mkstemp(path), fd = open(path, O_WRONLY | O_APPEND);

    CHECK(made >= 0 && fd >= 0 && close(made) == 0 && unlink(path) == 0);
    CHECK(write(fd, "before", 6) == 6);
    return fd;
}

static void check_log(int log)
{
    char link[64], text[16] = "";
    int fd;

    CHECK(write(log, " after", 6) == 6);
    snprintf(link, sizeof link, "/proc/self/fd/%d", log);
    fd = open(link, O_RDONLY);
    CHECK(fd >= 0 && read(fd, text, sizeof text - 1) == 12 && close(fd) == 0);
    CHECK(strcmp(text, "before after") == 0);
}

int main(int argc, char **argv)
{
    FILE *stream;
    struct stat status;
    char text[64] = "";
    int fd, copy, log;

    probe_begin(argc, argv, 2);
    fd = make_deleted();
    log = make_log();
    copy = dup(fd);
    stream = tmpfile();
    CHECK(copy >= 0 && stream != NULL);
    CHECK(fprintf(stream, "line of rank %d\n", probe_rank) > 0);
    CHECK(fflush(stream) == 0);
    CHECK(fprintf(stream, "still in the buffer\n") > 0);
    CHECK(lseek(fd, 1000, SEEK_SET) == 1000);
    probe_gate();
    CHECK(fstat(fd, &status) == 0 && status.st_size == SIZE);
    CHECK(status.st_nlink == 0);
    CHECK(lseek(copy, 0, SEEK_CUR) == 1000);
    for (int i = 0; i < SIZE; i += 1000) {
        char byte = 0;
        CHECK(pread(fd, &byte, 1, i) == 1);
        CHECK(byte == (char)(i * 7 + probe_rank));
    }
    CHECK(write(copy, "z", 1) == 1 && lseek(fd, 0, SEEK_CUR) == 1001);
    check_log(log);
    rewind(stream);
    CHECK(fgets(text, sizeof text, stream) != NULL);
    CHECK(text[13] == '0' + probe_rank);
    CHECK(fgets(text, sizeof text, stream) != NULL);
    CHECK(strcmp(text, "still in the buffer\n") == 0);
    return probe_end();
}
