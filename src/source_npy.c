/* Matrices from NumPy's .npy files, versions 1.0, 2.0 and 3.0.
 *
 *     "\x93NUMPY" major minor        8 bytes
 *     length of the header           2 bytes (1.0) or 4, little-endian
 *     a Python dict as text          {'descr': '<f8', 'fortran_order': False,
 *                                     'shape': (500, 500), }
 *     the entries                    to the end of the file
 *
 * Format: numpy.lib.format, NumPy Enhancement Proposal 1.  A "line" below is
 * a run of n entries that lie together in the file: a row in C order, a
 * column in Fortran order.  A rectangle is read as one piece of each line
 * that crosses it, a bounded number of entries at a time. */
#include "source.h"
#include "source_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    HEADER_MAX = 65536, /* NumPy writes 128 bytes for a matrix */
    PIECE = 32768,      /* bytes of buffer, on the stack */
};

struct npy {
    int fd;
    int64_t data;  /* offset of the first entry */
    int item;      /* bytes per entry, 8 or 4 */
    bool swap;     /* the file's byte order is not the machine's */
    bool fortran;
};

/* The header's dict.  Found: which keys it has had so far. */
struct dict {
    char descr[64];
    bool fortran;
    int64_t shape[2];
    int dims;
    bool found[3];
};

enum { DESCR, FORTRAN_ORDER, SHAPE };
static const char *const keys[] = {"descr", "fortran_order", "shape"};

/* ---- The header: a Python literal, token by token ---- */

struct text {
    const char *at;   /* the text ends with a 0 */
    const char *name; /* of the file, for messages */
    struct failure *f;
};

static bool malformed(struct text *t)
{
    fail(t->f, PEIGH_ERR_IO,
         "%s: the header is not a dict as NumPy writes it, near '%.20s'",
         t->name, t->at);
    return false;
}

/* Step over c, if it is what comes next after spaces. */
static bool next_is(struct text *t, char c)
{
    while (isspace((unsigned char)*t->at))
        t->at++;
    if (*t->at != c || c == 0)
        return false;
    t->at++;
    return true;
}

static bool parse_string(struct text *t, char *out, size_t size)
{
    char quote = next_is(t, '\'') ? '\'' : next_is(t, '"') ? '"' : 0;
    const char *end = quote ? strchr(t->at, quote) : NULL;
    if (end == NULL)
        return malformed(t);
    snprintf(out, size, "%.*s", (int)(end - t->at), t->at);
    t->at = end + 1;
    return true;
}

static bool parse_descr(struct text *t, struct dict *d)
{
    if (!next_is(t, '['))
        return parse_string(t, d->descr, sizeof d->descr);
    fail(t->f, PEIGH_ERR_IO, "%s: a structured dtype '[%.40s' is not "
         "supported (float64 and float32 are)", t->name, t->at);
    return false;
}

static bool parse_fortran_order(struct text *t, struct dict *d)
{
    next_is(t, ' '); /* for its spaces; itself never found */
    d->fortran = strncmp(t->at, "True", 4) == 0;
    if (!d->fortran && strncmp(t->at, "False", 5) != 0)
        return malformed(t);
    t->at += d->fortran ? 4 : 5;
    return true;
}

/* (), (3,), (3, 3): the first two numbers are kept, all are counted.  Beyond
 * 63 bits a number stays at INT64_MAX.  Python 2 wrote 3L. */
static bool parse_shape(struct text *t, struct dict *d)
{
    if (!next_is(t, '('))
        return malformed(t);
    d->dims = 0;
    while (!next_is(t, ')')) {
        if (!isdigit((unsigned char)*t->at))
            return malformed(t);
        char *end;
        int64_t value = strtoll(t->at, &end, 10);
        t->at = end + (*end == 'L');
        if (d->dims < 2)
            d->shape[d->dims] = value;
        d->dims++;
        if (!next_is(t, ',') && *t->at != ')')
            return malformed(t);
    }
    return true;
}

static bool parse_item(struct text *t, struct dict *d)
{
    static bool (*const parse[])(struct text *, struct dict *) = {
        parse_descr, parse_fortran_order, parse_shape};
    char key[32];
    if (!parse_string(t, key, sizeof key))
        return false;
    for (int k = 0; k < 3; k++)
        if (strcmp(key, keys[k]) == 0) {
            d->found[k] = true;
            return next_is(t, ':') ? parse[k](t, d) : malformed(t);
        }
    fail(t->f, PEIGH_ERR_IO, "%s: unknown key '%s' in the header", t->name,
         key);
    return false;
}

static bool parse_dict(struct text *t, struct dict *d)
{
    memset(d, 0, sizeof *d);
    if (!next_is(t, '{'))
        return malformed(t);
    while (!next_is(t, '}')) {
        if (!parse_item(t, d))
            return false;
        if (!next_is(t, ',') && *t->at != '}')
            return malformed(t);
    }
    next_is(t, ' ');
    if (*t->at != 0)
        return malformed(t);
    for (int k = 0; k < 3; k++)
        if (!d->found[k]) {
            fail(t->f, PEIGH_ERR_IO, "%s: no '%s' in the header", t->name,
                 keys[k]);
            return false;
        }
    return true;
}

/* ---- What the header means ---- */

static bool little_endian_machine(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 1;
}

/* [<>=|]f8 or [<>=|]f4.  '=', '|' and nothing mean the machine's order, as
 * they do for numpy.dtype. */
static peigh_status set_dtype(struct npy *npy, const char *descr,
                              const char *name, struct failure *f)
{
    bool little = little_endian_machine();
    const char *type = descr + (*descr != 0 && strchr("<>=|", *descr) != NULL);
    if (strcmp(type, "f8") != 0 && strcmp(type, "f4") != 0)
        return fail(f, PEIGH_ERR_IO, "%s: dtype '%s' is not supported "
                    "(float64 and float32 are)", name, descr);
    npy->item = type[1] - '0';
    npy->swap = (*descr == '<' && !little) || (*descr == '>' && little);
    return PEIGH_OK;
}

static peigh_status check_shape(const struct dict *d, const char *name,
                                struct failure *f)
{
    long long rows = d->shape[0], columns = d->shape[1];
    if (d->dims != 2)
        return fail(f, PEIGH_ERR_IO, "%s: the array is %d-D; a square 2-D "
                    "one is needed", name, d->dims);
    if (rows != columns)
        return fail(f, PEIGH_ERR_IO, "%s: shape (%lld, %lld) is not square",
                    name, rows, columns);
    if (rows > FILE_ORDER_MAX)
        return fail(f, PEIGH_ERR_IO, "%s: order %lld is too large (at most "
                    "%d)", name, rows, FILE_ORDER_MAX);
    return PEIGH_OK;
}

static peigh_status check_size(const struct npy *npy, int64_t n, int64_t size,
                               const char *name, struct failure *f)
{
    int64_t expected = npy->data + n * n * npy->item;
    if (size == expected)
        return PEIGH_OK;
    return fail(f, PEIGH_ERR_IO, "%s: %s: %lld bytes, but the header says "
                "%lld", name,
                size < expected ? "truncated" : "trailing bytes",
                (long long)size, (long long)expected);
}

/* The first bytes of the file: magic, version, length of the header text.
 * Sets npy->data to the end of the text. */
static peigh_status read_preamble(struct npy *npy, int64_t size,
                                  int64_t *start, const char *name,
                                  struct failure *f)
{
    unsigned char h[12] = {0};
    ssize_t got = file_read(npy->fd, h, sizeof h, 0);
    if (got < 0)
        return fail(f, PEIGH_ERR_IO, "%s: %s", name, strerror(errno));
    if (file_is_gzip(h, (size_t)got))
        return fail(f, PEIGH_ERR_IO, "%s: compressed by gzip; decompress it "
                    "first", name);
    if (got < 6 || memcmp(h, "\x93NUMPY", 6) != 0)
        return fail(f, PEIGH_ERR_IO, "%s: not a .npy file (its first bytes "
                    "are not \\x93NUMPY)", name);
    int major = h[6], minor = h[7];
    if (got >= 8 && (major < 1 || major > 3 || minor != 0))
        return fail(f, PEIGH_ERR_IO, "%s: .npy version %d.%d is not "
                    "supported (1.0, 2.0 and 3.0 are)", name, major, minor);
    *start = major == 1 ? 10 : 12;
    if (got < *start)
        return fail(f, PEIGH_ERR_IO, "%s: truncated header", name);
    int64_t length = h[8] + 256 * h[9];
    if (major > 1)
        length += ((int64_t)h[10] << 16) + ((int64_t)h[11] << 24);
    npy->data = *start + length;
    if (npy->data > size)
        return fail(f, PEIGH_ERR_IO, "%s: truncated header: %lld bytes "
                    "announced, the file has %lld in all", name,
                    (long long)length, (long long)size);
    if (length > HEADER_MAX)
        return fail(f, PEIGH_ERR_IO, "%s: a header of %lld bytes is too long "
                    "(at most %d)", name, (long long)length, HEADER_MAX);
    return PEIGH_OK;
}

static peigh_status read_dict(const struct npy *npy, int64_t start,
                              struct dict *dict, const char *name,
                              struct failure *f)
{
    size_t length = (size_t)(npy->data - start);
    char *header = malloc(length + 1);
    if (header == NULL)
        return fail(f, PEIGH_ERR_MEMORY, "%s: no memory for %lld bytes of "
                    "header", name, (long long)length + 1);
    ssize_t got = file_read(npy->fd, header, length, start);
    header[length] = 0;
    if (got != (ssize_t)length)
        fail(f, PEIGH_ERR_IO, "%s: %s", name,
             got < 0 ? strerror(errno) : "truncated header");
    else if (strlen(header) != length)
        fail(f, PEIGH_ERR_IO, "%s: a zero byte in the header", name);
    else
        parse_dict(&(struct text){header, name, f}, dict);
    free(header);
    return f->status;
}

/* ---- The entries ---- */

/* One entry, as the bytes stand in the file. */
static double decode(const struct npy *npy, const unsigned char *bytes)
{
    uint64_t bits8;
    uint32_t bits4;
    double value8;
    float value4;
    if (npy->item == 8) {
        memcpy(&bits8, bytes, 8);
        if (npy->swap)
            bits8 = __builtin_bswap64(bits8);
        memcpy(&value8, &bits8, 8);
        return value8;
    }
    memcpy(&bits4, bytes, 4);
    if (npy->swap)
        bits4 = __builtin_bswap32(bits4);
    memcpy(&value4, &bits4, 4);
    return value4;
}

/* Entries first .. first + count - 1 of the file to out[0], out[stride]... */
static peigh_status read_piece(const struct source *source, int64_t first,
                               int64_t count, double *out, int64_t stride,
                               struct failure *f)
{
    const struct npy *npy = source->state;
    unsigned char buffer[PIECE];
    size_t bytes = (size_t)count * (size_t)npy->item;
    ssize_t got = file_read(npy->fd, buffer, bytes,
                            npy->data + first * npy->item);
    if (got != (ssize_t)bytes)
        return fail(f, PEIGH_ERR_IO, "%s: %s", source->name,
                    got < 0 ? strerror(errno)
                            : "truncated while it was being read");
    for (int64_t k = 0; k < count; k++)
        out[k * stride] = decode(npy, buffer + k * npy->item);
    return PEIGH_OK;
}

static peigh_status npy_fill(const struct source *source, int64_t i0,
                             int64_t i1, int64_t j0, int64_t j1, double *a,
                             int64_t lda, struct failure *f)
{
    const struct npy *npy = source->state;
    bool columns = npy->fortran;
    int64_t line0 = columns ? j0 : i0, line1 = columns ? j1 : i1;
    int64_t k0 = columns ? i0 : j0, k1 = columns ? i1 : j1;
    int64_t line_stride = columns ? lda : 1, stride = columns ? 1 : lda;
    int64_t most = PIECE / npy->item;
    for (int64_t line = line0; line < line1; line++)
        for (int64_t k = k0; k < k1; k += most) {
            int64_t count = k1 - k < most ? k1 - k : most;
            double *out = a + (line - line0) * line_stride +
                          (k - k0) * stride;
            if (read_piece(source, line * source->n + k, count, out, stride,
                           f) != PEIGH_OK)
                return f->status;
        }
    return PEIGH_OK;
}

static void npy_close(struct source *source)
{
    struct npy *npy = source->state;
    if (npy && npy->fd >= 0)
        close(npy->fd);
    free(npy);
    source->state = NULL;
}

static peigh_status npy_open(struct source *source, const char *path,
                             struct failure *f)
{
    struct npy *npy = source->state;
    const char *name = source->name;
    struct dict dict;
    int64_t size = 0, start = 0;
    if ((npy->fd = file_open(path, name, &size, f)) < 0 ||
        read_preamble(npy, size, &start, name, f) != PEIGH_OK ||
        read_dict(npy, start, &dict, name, f) != PEIGH_OK ||
        set_dtype(npy, dict.descr, name, f) != PEIGH_OK ||
        check_shape(&dict, name, f) != PEIGH_OK)
        return f->status;
    npy->fortran = dict.fortran;
    source->n = dict.shape[0];
    return check_size(npy, source->n, size, name, f);
}

peigh_status source_open_npy(struct source *source, const char *path,
                             struct failure *f)
{
    *source = (struct source){
        .random_access = true, .fill = npy_fill, .close = npy_close};
    file_name(source->name, path);
    source->state = malloc(sizeof(struct npy));
    if (source->state == NULL)
        return fail(f, PEIGH_ERR_MEMORY, "%s: no memory for %zu bytes",
                    source->name, sizeof(struct npy));
    if (npy_open(source, path, f) != PEIGH_OK)
        npy_close(source);
    return f->status;
}
