/* What must hold for any bytes that a reader of files or options is given:
 * it ends; it either succeeds without a message or fails with one that names
 * the file or the option; and what it says it has read does not depend on
 * what was in memory before, nor on the rectangle that was asked for.
 *
 * Shared by the fuzzer (tests/fuzz/fuzz.c) and by the test that replays its
 * corpus (tests/test_fuzz.c).  A broken rule ends the program. */
#ifndef FUZZ_CASE_H
#define FUZZ_CASE_H

#include "hdf5_file.h"
#include "range.h"
#include "source.h"
#include "source_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define must_hold(condition)                                             \
    do {                                                                 \
        if (!(condition)) {                                              \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__,   \
                    #condition);                                         \
            abort();                                                     \
        }                                                                \
    } while (0)

static char fuzz_path[] = "/tmp/peigh-fuzz-XXXXXX";

static inline void fuzz_remove(void)
{
    unlink(fuzz_path);
}

/* The bytes as a file, under a name that is the same all through a run. */
static inline const char *fuzz_file(const uint8_t *data, size_t size)
{
    static bool made;
    const char *path = fuzz_path;
    if (!made) {
        int file = mkstemp(fuzz_path);
        must_hold(file >= 0 && atexit(fuzz_remove) == 0);
        made = close(file) == 0;
    }
    FILE *file = fopen(path, "wb");
    must_hold(file && fwrite(data, 1, size, file) == size);
    must_hold(fclose(file) == 0);
    return path;
}

static inline void failure_is_told(const struct failure *f, const char *name)
{
    must_hold(f->status != PEIGH_OK && *f->message);
    must_hold(strlen(f->message) < PEIGH_MESSAGE_MAX);
    must_hold(strstr(f->message, name) != NULL);
}

/* A rectangle of at most 8 x 8, over memory full of the byte `before`. */
static inline peigh_status fuzz_fill(const struct source *s, int64_t i0,
                                     int64_t i1, int64_t j0, int64_t j1,
                                     int before, double *a)
{
    struct failure f = {.status = PEIGH_OK};
    memset(a, before, 64 * sizeof *a);
    s->fill(s, i0, i1, j0, j1, a, 8, &f);
    must_hold(!failed(&f) == !*f.message);
    if (failed(&f))
        failure_is_told(&f, s->name);
    return f.status;
}

/* The corner, twice, and a rectangle inside of it; and the mirrored way. */
static inline void fuzz_source(struct source *s)
{
    int64_t m = s->n < 8 ? s->n : 8;
    double a[64], b[64];
    must_hold(s->n >= 0 && s->n <= FILE_ORDER_MAX);
    peigh_status first = fuzz_fill(s, 0, m, 0, m, 0x55, a);
    must_hold(fuzz_fill(s, 0, m, 0, m, 0xaa, b) == first);
    for (int64_t j = 0; j < m && !first; j++)
        must_hold(!memcmp(a + 8 * j, b + 8 * j, sizeof *a * (size_t)m));
    if (first || m < 2)
        return;
    must_hold(!fuzz_fill(s, 1, m, m - 1, m, 0x33, b));
    must_hold(!memcmp(b, a + 8 * (m - 1) + 1, sizeof *a * (size_t)(m - 1)));
    struct failure f = {.status = PEIGH_OK};
    if (s->fill_mirrored && !s->fill_mirrored(s, 0, m, 0, m, b, 8, &f))
        for (int64_t j = 0; j < m; j++)
            for (int64_t i = 0; i < m; i++)
                must_hold(!memcmp(&a[i + 8 * j], &b[j + 8 * i], sizeof *a));
    must_hold(!failed(&f));
}

static inline void fuzz_reader(peigh_status open(struct source *, const char *,
                                                 struct failure *),
                               const uint8_t *data, size_t size)
{
    struct source source;
    struct failure f = {.status = PEIGH_OK};
    const char *path = fuzz_file(data, size);
    if (open(&source, path, &f)) {
        failure_is_told(&f, path);
        return;
    }
    must_hold(!*f.message);
    fuzz_source(&source);
    source.close(&source);
}

static inline void fuzz_npy(const uint8_t *data, size_t size)
{
    fuzz_reader(source_open_npy, data, size);
}

static inline void fuzz_mtx(const uint8_t *data, size_t size)
{
    fuzz_reader(source_open_mtx, data, size);
}

/* Words of the command line: --raw, --range, names of datasets, of gallery
 * matrices (of a fixed order, so that memory is not what is tried). */
static inline void fuzz_words(const uint8_t *data, size_t size)
{
    enum { LONGEST = 600 };
    char text[LONGEST + 1], again[PATH_MAX + LONGEST + 2];
    size_t length = size < LONGEST ? size : LONGEST;
    memcpy(text, data, length);
    text[length] = 0;

    struct raw raw;
    struct failure f = {.status = PEIGH_OK};
    if (raw_read(&raw, text, &f))
        failure_is_told(&f, "--raw");
    else
        must_hold((raw.item == 8 || raw.item == 4) && raw.n >= 0 &&
                  raw.n <= FILE_ORDER_MAX && raw.offset >= 0);

    struct range range;
    f = (struct failure){.status = PEIGH_OK};
    if (range_read(&range, text, &f) || range_check(&range, 100, &f))
        failure_is_told(&f, "--range");
    else if (range.by_value)
        must_hold(range.low < range.high);
    else
        must_hold(0 <= range.from && range.from <= range.to &&
                  range.to <= 100);

    struct hdf5_name name;
    if (hdf5_split(text, &name)) {
        must_hold(hdf5_is_name(text) && *name.file);
        snprintf(again, sizeof again, "%s:%s", name.file, name.dataset);
        must_hold(strcmp(again, text) == 0);
        must_hold(!hdf5_datasets_apart(name.dataset, name.dataset));
        hdf5_dataset_ok(name.dataset);
    }

    struct source source;
    char spec[LONGEST + 16];
    f = (struct failure){.status = PEIGH_OK};
    snprintf(spec, sizeof spec, "gallery:%s", text);
    if (strstr(text, "n=") || strstr(text, "p=") || strstr(text, "q="))
        return;
    if (source_open_gallery(&source, spec, 8, 1, &f)) {
        failure_is_told(&f, "gallery:");
        return;
    }
    fuzz_source(&source);
    source.close(&source);
}

#endif
