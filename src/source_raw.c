/* Matrices from files without a header: --raw TYPE,ORDER[,OFFSET[,C|F]].
 *
 *     TYPE    float64 or float32, or <f8 >f8 <f4 >f4 with the byte order
 *     ORDER   N: there are N * N entries, and nothing behind them
 *     OFFSET  bytes before the first of them, 0 unless said
 *     C, F    row after row (ndarray.tofile, C), or column after column
 *
 * Nothing in the file says what it is.  Its length has to agree with what the
 * user said; and where the byte order was not said, numbers that make sense
 * only the other way round are refused. */
#include "source_binary.h"
#include "source_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Numbers beyond these are rare in matrices, but with the bytes reversed an
 * exponent is made of mantissa bits and beyond them every other time (double)
 * or every fifth time (float). */
static const double plausible_double = 0x1p500, plausible_float = 0x1p100;
enum {
    SAMPLE = 4096,       /* entries to look at */
    IMPLAUSIBLE_PART = 10, /* a tenth of them is enough for suspicion */
};

static const struct {
    const char *name;
    int item;
    char order; /* '<', '>', or 0: the machine's */
} types[] = {
    {"float64", 8, 0}, {"float32", 4, 0}, {"f8", 8, 0},   {"f4", 4, 0},
    {"<f8", 8, '<'},   {"<f4", 4, '<'},   {">f8", 8, '>'}, {">f4", 4, '>'},
};

enum { TYPES = sizeof types / sizeof types[0] };

/* ---- What the user said ---- */

static peigh_status misread(const char *text, const char *expected,
                            struct failure *f)
{
    return fail(f, PEIGH_ERR_ARGUMENT, "--raw %.200s: expected %s", text,
                expected);
}

/* Step over `word` and the comma or the end behind it. */
static bool take_word(const char **at, const char *word)
{
    size_t length = strlen(word);
    char end = strncmp(*at, word, length) == 0 ? (*at)[length] : '?';
    if (end != ',' && end != 0)
        return false;
    *at += length + (end == ',');
    return true;
}

static bool take_integer(const char **at, int64_t most, int64_t *value)
{
    char *end;
    errno = 0;
    bool digit = **at >= '0' && **at <= '9';
    *value = strtoll(*at, &end, 10);
    if (!digit || errno || *value > most || (*end != ',' && *end != 0))
        return false;
    *at = end + (*end == ',');
    return true;
}

static bool take_type(struct raw *raw, const char **at)
{
    for (int k = 0; k < TYPES; k++)
        if (take_word(at, types[k].name)) {
            char other = little_endian_machine() ? '>' : '<';
            raw->item = types[k].item;
            raw->vouched = types[k].order != 0;
            raw->swap = types[k].order == other;
            return true;
        }
    return false;
}

peigh_status raw_read(struct raw *raw, const char *text, struct failure *f)
{
    const int64_t offset_max = (int64_t)1 << 61; /* n * n * 8 fits beside it */
    const char *at = text;
    *raw = (struct raw){0};
    if (!take_type(raw, &at))
        return misread(text, "TYPE,ORDER[,OFFSET[,C|F]] with TYPE float64, "
                       "float32, <f8, >f8, <f4 or >f4", f);
    if (!take_integer(&at, FILE_ORDER_MAX, &raw->n))
        return misread(text, "the order N of the matrix after the type", f);
    if (*at && !take_integer(&at, offset_max, &raw->offset))
        return misread(text, "after the order the offset of the first entry, "
                       "in bytes", f);
    if (*at && !(raw->by_columns = take_word(&at, "F")) &&
        !take_word(&at, "C"))
        return misread(text, "after the offset C (row after row) or F (column "
                       "after column)", f);
    if (*at || (at > text && at[-1] == ','))
        return misread(text, "nothing more after it", f);
    return PEIGH_OK;
}

/* ---- What is in the file ---- */

static bool plausible(const struct binary *b, double x)
{
    double bound = b->item == 8 ? plausible_double : plausible_float;
    return x == 0 || (fabs(x) < bound && fabs(x) > 1 / bound);
}

/* Refuse a file whose first numbers make sense with their bytes reversed
 * only. */
static peigh_status check_byte_order(int fd, const struct binary *b, int64_t n,
                                     const char *name, struct failure *f)
{
    unsigned char bytes[SAMPLE * 8];
    struct binary other = *b;
    int64_t count = n * n < SAMPLE ? n * n : SAMPLE;
    ssize_t got = file_read(fd, bytes, (size_t)(count * b->item), b->data);
    if (got < 0)
        return fail(f, PEIGH_ERR_IO, "%s: %s", name, strerror(errno));
    other.swap = !b->swap;
    int64_t numbers = 0, strange = 0, first = -1;
    for (int64_t k = 0; k < got / b->item; k++) {
        const unsigned char *entry = bytes + k * b->item;
        double x = binary_decode(b, entry);
        if (!plausible(&other, binary_decode(&other, entry)))
            return PEIGH_OK;
        numbers += x != 0;
        strange += !plausible(b, x);
        if (first < 0 && strange > 0)
            first = k;
    }
    if (strange == 0 || IMPLAUSIBLE_PART * strange < numbers)
        return PEIGH_OK;
    const unsigned char *entry = bytes + first * b->item;
    int64_t row = first / n, column = first % n;
    return fail(f, PEIGH_ERR_IO, "%s: wrong byte order? A[%lld,%lld] is %g, "
                "and %g with its bytes reversed; say <f%d or >f%d in --raw",
                name, (long long)(b->by_rows ? row : column),
                (long long)(b->by_rows ? column : row),
                binary_decode(b, entry), binary_decode(&other, entry),
                b->item, b->item);
}

static peigh_status check_size(int fd, int64_t size, const struct binary *b,
                               int64_t n, const char *name, struct failure *f)
{
    unsigned char head[2];
    int64_t expected = binary_size(b, n);
    if (size == expected)
        return PEIGH_OK;
    ssize_t got = file_read(fd, head, sizeof head, 0);
    if (got > 0 && file_is_gzip(head, (size_t)got))
        return fail(f, PEIGH_ERR_IO, "%s: compressed by gzip; decompress it "
                    "first", name);
    return fail(f, PEIGH_ERR_IO, "%s: %s: %lld bytes, but %lld x %lld entries "
                "of %d bytes from byte %lld on make %lld", name,
                size < expected ? "truncated" : "trailing bytes",
                (long long)size, (long long)n, (long long)n, b->item,
                (long long)b->data, (long long)expected);
}

peigh_status source_open_raw(struct source *source, const char *path,
                             const struct raw *raw, int64_t n,
                             struct failure *f)
{
    const struct binary b = {.data = raw->offset, .item = raw->item,
                             .swap = raw->swap, .by_rows = !raw->by_columns};
    int64_t size = 0;
    *source = (struct source){.n = raw->n};
    file_name(source->name, path);
    int fd = file_open(path, source->name, &size, f);
    if (fd < 0)
        return f->status;
    if (!check_size(fd, size, &b, raw->n, source->name, f) && !raw->vouched)
        check_byte_order(fd, &b, raw->n, source->name, f);
    close(fd);
    if (failed(f) || binary_open(source, path, &b, f))
        return f->status;
    return source_check_order(source, n, f);
}
