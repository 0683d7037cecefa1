/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * text.c - strings and numbers in code that may not use libc.
 */
#include "base/text.h"

#include "base/invariant.h"

size_t ckpt_text_length(const char *text)
{
    size_t length = 0;

    while (text[length] != '\0') {
        length++;
    }
    return length;
}

int ckpt_text_equal(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

int ckpt_text_starts(const char *text, const char *prefix)
{
    while (*prefix != '\0' && *text == *prefix) {
        text++;
        prefix++;
    }
    return *prefix == '\0';
}

int ckpt_text_ends(const char *text, const char *suffix)
{
    const size_t length = ckpt_text_length(text);
    const size_t wanted = ckpt_text_length(suffix);

    return length >= wanted && ckpt_text_equal(text + length - wanted, suffix);
}

uint64_t ckpt_text_hash(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    }
    return hash;
}

size_t ckpt_text_copy(char *to, size_t capacity, const char *from)
{
    size_t length = 0;

    CKPT_INVARIANT(capacity > 0); /* room for the NUL */
    while (length + 1 < capacity && from[length] != '\0') {
        to[length] = from[length];
        length++;
    }
    to[length] = '\0';
    return length;
}

/* Returns the value of a digit, or 16 if it is not a digit. */
static unsigned digit_value(char digit)
{
    if (digit >= '0' && digit <= '9') {
        return (unsigned)(digit - '0');
    }
    if (digit >= 'a' && digit <= 'f') {
        return (unsigned)(digit - 'a') + 10;
    }
    if (digit >= 'A' && digit <= 'F') {
        return (unsigned)(digit - 'A') + 10;
    }
    return 16;
}

static const char *parse_number(const char *text, unsigned base,
                                uint64_t *value_p)
{
    const char *start = text;
    uint64_t value = 0;
    unsigned digit;

    CKPT_INVARIANT(base == 10 || base == 16);
    while ((digit = digit_value(*text)) < base) {
        if (value > (UINT64_MAX - digit) / base) {
            return NULL;
        }
        value = value * base + digit;
        text++;
    }
    if (text == start) {
        return NULL;
    }
    *value_p = value;
    return text;
}

const char *ckpt_text_decimal(const char *text, uint64_t *value_p)
{
    return parse_number(text, 10, value_p);
}

const char *ckpt_text_hexadecimal(const char *text, uint64_t *value_p)
{
    return parse_number(text, 16, value_p);
}

/* Receives formatted characters; drops those that do not fit. */
struct sink {
    char *buffer;
    size_t capacity;
    size_t length;
};

static void put(struct sink *sink, char c)
{
    if (sink->length + 1 < sink->capacity) {
        sink->buffer[sink->length++] = c;
    }
}

static void put_string(struct sink *sink, const char *text)
{
    text = text != NULL ? text : "(null)";
    while (*text != '\0') {
        put(sink, *text++);
    }
}

static void put_number(struct sink *sink, unsigned long value, unsigned base)
{
    char digits[20]; /* enough for 2^64 - 1 in base 10 */
    int count = 0;

    CKPT_INVARIANT(base >= 10 && base <= 16); /* digits[] has room, and so has the alphabet */
    do {
        digits[count++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    while (count > 0) {
        put(sink, digits[--count]);
    }
}

static void put_signed(struct sink *sink, long value)
{
    if (value < 0) {
        put(sink, '-');
        put_number(sink, -(unsigned long)value, 10);
    } else {
        put_number(sink, (unsigned long)value, 10);
    }
}

size_t ckpt_text_vformat(char *buffer, size_t capacity, const char *format,
                         va_list arguments)
{
    struct sink sink = {.buffer = buffer, .capacity = capacity};

    CKPT_INVARIANT(capacity > 0); /* room for the NUL */
    for (; *format != '\0'; format++) {
        if (*format != '%' || format[1] == '\0') {
            put(&sink, *format);
            continue;
        }
        switch (*++format) {
        case 's':
            put_string(&sink, va_arg(arguments, const char *));
            break;
        case 'd':
            put_signed(&sink, va_arg(arguments, int));
            break;
        case 'u':
            put_number(&sink, va_arg(arguments, unsigned), 10);
            break;
        case 'l':
            put_signed(&sink, va_arg(arguments, long));
            break;
        case 'x':
            put_number(&sink, va_arg(arguments, unsigned long), 16);
            break;
        default: /* %%, or an unknown conversion */
            put(&sink, *format);
            break;
        }
    }
    sink.buffer[sink.length] = '\0';
    return sink.length;
}

size_t ckpt_text_format(char *buffer, size_t capacity, const char *format, ...)
{
    va_list arguments;
    size_t length;

    va_start(arguments, format);
    length = ckpt_text_vformat(buffer, capacity, format, arguments);
    va_end(arguments);
    return length;
}
