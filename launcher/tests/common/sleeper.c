/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sleeper.c - reports its start, and waits to be killed.
 */
#include <unistd.h>

int main(void)
{
    if (write(STDOUT_FILENO, "!", 1) != 1) {
        return 1;
    }
    for (;;) {
        pause();
    }
}
