/* Matrices from NumPy's .npy files, versions 1.0, 2.0 and 3.0.
 *
 *     "\x93NUMPY" major minor        8 bytes
 *     length of the header           2 bytes (1.0) or 4, little-endian
 *     a Python dict as text          {'descr': '<f8', 'fortran_order': False,
 *                                     'shape': (500, 500), }
 *     the entries                    to the end of the file
 *
 * Format: numpy.lib.format, NumPy Enhancement Proposal 1.  The header is read
 * here, the entries in source_binary.c. */
#include "npy.h"
#include "source_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEADER_MAX = 65536 }; /* NumPy writes 128 bytes for a matrix */

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

/* [<>=|]f8 or [<>=|]f4.  '=', '|' and nothing mean the machine's order, as
 * they do for numpy.dtype. */
static peigh_status set_dtype(struct binary *b, const char *descr,
                              const char *name, struct failure *f)
{
    bool little = little_endian_machine();
    const char *type = descr + (*descr != 0 && strchr("<>=|", *descr) != NULL);
    if (strcmp(type, "f8") != 0 && strcmp(type, "f4") != 0)
        return fail(f, PEIGH_ERR_IO, "%s: dtype '%s' is not supported "
                    "(float64 and float32 are)", name, descr);
    b->item = type[1] - '0';
    b->swap = (*descr == '<' && !little) || (*descr == '>' && little);
    return PEIGH_OK;
}

static peigh_status check_shape(const struct npy_header *h, const char *name,
                                struct failure *f)
{
    long long rows = h->shape[0], columns = h->shape[1];
    if (h->dims != 2)
        return fail(f, PEIGH_ERR_IO, "%s: the array is %d-D; a square 2-D "
                    "one is needed", name, h->dims);
    if (rows != columns)
        return fail(f, PEIGH_ERR_IO, "%s: shape (%lld, %lld) is not square",
                    name, rows, columns);
    if (rows > FILE_ORDER_MAX)
        return fail(f, PEIGH_ERR_IO, "%s: order %lld is too large (at most "
                    "%d)", name, rows, FILE_ORDER_MAX);
    return PEIGH_OK;
}

peigh_status npy_check_size(const struct npy_header *header, int64_t entries,
                            int64_t size, const char *name, struct failure *f)
{
    const struct binary *b = &header->binary;
    int64_t expected = b->data + entries * b->item;
    if (size == expected)
        return PEIGH_OK;
    return fail(f, PEIGH_ERR_IO, "%s: %s: %lld bytes, but the header says "
                "%lld", name,
                size < expected ? "truncated" : "trailing bytes",
                (long long)size, (long long)expected);
}

/* The first bytes of the file: magic, version, length of the header text.
 * Finds the start and the end of the text. */
static peigh_status read_preamble(int fd, int64_t size, int64_t *start,
                                  int64_t *end, const char *name,
                                  struct failure *f)
{
    unsigned char h[12] = {0};
    ssize_t got = file_read(fd, h, sizeof h, 0);
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
    *end = *start + length;
    if (*end > size)
        return fail(f, PEIGH_ERR_IO, "%s: truncated header: %lld bytes "
                    "announced, the file has %lld in all", name,
                    (long long)length, (long long)size);
    if (length > HEADER_MAX)
        return fail(f, PEIGH_ERR_IO, "%s: a header of %lld bytes is too long "
                    "(at most %d)", name, (long long)length, HEADER_MAX);
    return PEIGH_OK;
}

static peigh_status read_dict(int fd, int64_t start, int64_t end,
                              struct dict *dict, const char *name,
                              struct failure *f)
{
    size_t length = (size_t)(end - start);
    char *header = malloc(length + 1);
    if (header == NULL)
        return fail(f, PEIGH_ERR_MEMORY, "%s: no memory for %lld bytes of "
                    "header", name, (long long)length + 1);
    ssize_t got = file_read(fd, header, length, start);
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

peigh_status npy_read_header(int fd, int64_t size, const char *name,
                             struct npy_header *header, struct failure *f)
{
    struct dict dict;
    struct binary *b = &header->binary;
    int64_t start = 0;
    if (read_preamble(fd, size, &start, &b->data, name, f) ||
        read_dict(fd, start, b->data, &dict, name, f) ||
        set_dtype(b, dict.descr, name, f))
        return f->status;
    b->by_rows = !dict.fortran;
    header->dims = dict.dims;
    memcpy(header->shape, dict.shape, sizeof header->shape);
    return PEIGH_OK;
}

peigh_status source_open_npy(struct source *source, const char *path,
                             struct failure *f)
{
    struct npy_header h = {0};
    const char *name = source->name;
    int64_t size = 0;
    *source = (struct source){0};
    file_name(source->name, path);
    int fd = file_open(path, name, &size, f);
    if (fd < 0)
        return f->status;
    if (!npy_read_header(fd, size, name, &h, f) && !check_shape(&h, name, f))
        npy_check_size(&h, h.shape[0] * h.shape[0], size, name, f);
    source->n = h.shape[0];
    close(fd);
    return failed(f) ? f->status : binary_open(source, path, &h.binary, f);
}
