/* Reading a text file line by line in constant memory, and the numbers on
 * the lines.
 *
 * One buffer holds the current line and what was read beyond it.  When no end
 * of line is left in the buffer, the unread part moves to its front and the
 * rest is filled from the file.  Lines end with \n; the \r before it on
 * Windows is white space like any other. */
#include "lines.h"
#include "source_file.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORD_SHOWN = 30 }; /* characters of a word in a message */

struct lines *lines_open(const char *path, const char *name,
                         struct failure *f)
{
    struct lines *l = malloc(sizeof *l);
    if (l == NULL) {
        fail(f, PEIGH_ERR_MEMORY, "%s: no memory for %zu bytes", name,
             sizeof *l);
        return NULL;
    }
    l->fd = file_open(path, name, &l->size, f);
    l->name = name;
    l->f = f;
    l->number = l->offset = 0;
    l->begin = l->end = 0;
    l->at = l->stop = l->buffer;
    l->buffer[0] = 0;
    if (l->fd >= 0)
        return l;
    free(l);
    return NULL;
}

void lines_close(struct lines *l)
{
    close(l->fd);
    free(l);
}

void lines_fail(struct lines *l, const char *format, ...)
{
    char reason[PEIGH_MESSAGE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    fail(l->f, PEIGH_ERR_IO, "%s: line %lld: %s", l->name,
         (long long)l->number, reason);
}

/* Move the unread part to the front and read more behind it.  Returns false
 * at the end of the file and after a failure. */
static bool lines_refill(struct lines *l)
{
    l->end -= l->begin;
    memmove(l->buffer, l->buffer + l->begin, l->end);
    l->begin = 0;
    ssize_t got = file_read(l->fd, l->buffer + l->end,
                            LINE_BYTES_MAX - l->end, l->offset);
    if (got < 0) {
        fail(l->f, PEIGH_ERR_IO, "%s: %s", l->name, strerror(errno));
        return false;
    }
    l->end += (size_t)got;
    l->offset += got;
    return got > 0;
}

bool lines_next(struct lines *l)
{
    char *first = l->buffer + l->begin;
    char *newline = memchr(first, '\n', l->end - l->begin);
    if (newline == NULL) {
        bool more = lines_refill(l);
        first = l->buffer;
        newline = memchr(first, '\n', l->end);
        if (failed(l->f) || (!more && l->end == 0))
            return false;
    }
    l->number++;
    if (newline == NULL && l->end == LINE_BYTES_MAX) {
        lines_fail(l, "longer than %d bytes", LINE_BYTES_MAX);
        return false;
    }
    l->at = first;
    l->stop = newline ? newline : l->buffer + l->end;
    l->begin = (size_t)(l->stop - l->buffer) + (newline != NULL);
    *l->stop = 0;
    return true;
}

bool lines_word(struct lines *l)
{
    while (l->at < l->stop && isspace((unsigned char)*l->at))
        l->at++;
    return l->at < l->stop;
}

bool lines_next_data(struct lines *l)
{
    while (lines_next(l))
        if (lines_word(l) && *l->at != '%')
            return true;
    return false;
}

int lines_word_length(const struct lines *l)
{
    int length = 0;
    while (l->at + length < l->stop && length < WORD_SHOWN &&
           !isspace((unsigned char)l->at[length]))
        length++;
    return length;
}

static bool ends_word(const struct lines *l, const char *end)
{
    return end == l->stop || isspace((unsigned char)*end);
}

bool lines_integer(struct lines *l, const char *what, int64_t *value)
{
    if (!lines_word(l)) {
        lines_fail(l, "truncated: no %s", what);
        return false;
    }
    char *end = l->at + (*l->at == '-' || *l->at == '+');
    bool digits = isdigit((unsigned char)*end);
    int64_t v = 0;
    bool overflow = false;
    for (; isdigit((unsigned char)*end); end++)
        overflow |= __builtin_mul_overflow(v, 10, &v) ||
                    __builtin_add_overflow(v, *end - '0', &v);
    if (!digits || !ends_word(l, end) || overflow) {
        lines_fail(l, "'%.*s' is not %s", lines_word_length(l), l->at,
                   overflow ? "within 63 bits" : "an integer");
        return false;
    }
    *value = *l->at == '-' ? -v : v;
    l->at = end;
    return true;
}

/* strtod also takes hexadecimal and "nan(...)", Matrix Market does not; an
 * integer file has neither points nor exponents. */
static bool proper_number(const char *word, const char *end, bool integer)
{
    for (; word < end; word++) {
        bool digit = isdigit((unsigned char)*word);
        if (!digit && (integer ? strchr("+-", *word) == NULL
                               : strchr("xX(", *word) != NULL))
            return false;
    }
    return true;
}

bool lines_value(struct lines *l, bool integer, double *value)
{
    if (!lines_word(l)) {
        lines_fail(l, "truncated: no value");
        return false;
    }
    char *end;
    double v = strtod(l->at, &end);
    bool proper = end > l->at && ends_word(l, end) &&
                  proper_number(l->at, end, integer);
    const char *digits = l->at + (*l->at == '-' || *l->at == '+');
    bool overflow = isinf(v) && tolower((unsigned char)*digits) != 'i';
    if (!proper || overflow) {
        lines_fail(l, "'%.*s' is %s", lines_word_length(l), l->at,
                   !proper ? integer ? "not an integer" : "not a number"
                          : "too large for a double");
        return false;
    }
    *value = v;
    l->at = end;
    return true;
}

bool lines_finished(struct lines *l)
{
    if (!lines_word(l))
        return true;
    lines_fail(l, "unexpected '%.*s'", lines_word_length(l), l->at);
    return false;
}
