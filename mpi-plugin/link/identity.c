/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * identity.c - identify the process that `ckpt run` has started.
 */
#include "link/identity.h"

#include "base/text.h"
#include "sys/syscall.h"

#include <fcntl.h>

#define START_FIELD  22 /* of /proc/PID/stat (proc(5)): clock ticks since boot */
#define PID_DIGITS   10
#define START_DIGITS 20

_Static_assert(PID_DIGITS + 1 + START_DIGITS + 1 <= CKPT_IDENTITY_SIZE, "the identity's text");

/* Returns the text after the command, which may contain any character: field
 * 3. */
static const char *behind_command(const char *stat)
{
    const char *last = NULL;

    for (; *stat != '\0'; stat++) {
        last = *stat == ')' ? stat : last;
    }
    return last == NULL || last[1] == '\0' ? NULL : last + 2;
}

static int read_start(uint64_t *start_p)
{
    char text[1024];
    const char *at;
    long fd = ckpt_sys_open("/proc/self/stat", O_RDONLY | O_CLOEXEC, 0);
    long size = fd < 0 ? fd : ckpt_sys_read((int)fd, text, sizeof(text) - 1);

    if (fd >= 0) {
        (void)ckpt_sys_close((int)fd);
    }
    text[size > 0 ? size : 0] = '\0';
    at = behind_command(text);
    for (int field = 3; at != NULL && field < START_FIELD; field++) {
        while (*at != ' ' && *at != '\0') {
            at++;
        }
        at = *at == ' ' ? at + 1 : NULL;
    }
    return at != NULL && ckpt_text_decimal(at, start_p) != NULL;
}

static void write_digits(char *to, int digits, uint64_t value)
{
    for (int i = digits - 1; i >= 0; i--, value /= 10) {
        to[i] = (char)('0' + value % 10);
    }
}

void ckpt_identity(char text[CKPT_IDENTITY_SIZE])
{
    uint64_t start;

    text[0] = '\0';
    if (read_start(&start)) {
        write_digits(text, PID_DIGITS, (uint64_t)ckpt_sys_getpid());
        text[PID_DIGITS] = '-';
        write_digits(text + PID_DIGITS + 1, START_DIGITS, start);
        text[PID_DIGITS + 1 + START_DIGITS] = '\0';
    }
}

void ckpt_identity_renew(char *const environment[])
{
    static const char prefix[] = CKPT_IDENTITY_VARIABLE "=";
    char text[CKPT_IDENTITY_SIZE];

    ckpt_identity(text);
    for (; environment != NULL && *environment != NULL; environment++) {
        char *value = *environment + sizeof(prefix) - 1;

        if (ckpt_text_starts(*environment, prefix) &&
            ckpt_text_length(value) == ckpt_text_length(text)) {
            (void)ckpt_text_copy(value, CKPT_IDENTITY_SIZE, text);
        }
    }
}
