/* Which kind of source the user named.
 *
 *     gallery:NAME[,key=value...]    a formula, source_gallery.c
 *     source:KIND[,key=value...]     made from data, source_streamed.c
 *     FILE.npy                       NumPy array, source_npy.c
 *     FILE.mtx                       Matrix Market, source_mtx.c
 *     FILE.h5:/DATASET               HDF5, source_hdf5.c
 *
 * The suffix decides, in either case of letters. */
#include "source.h"

#include "hdf5_file.h"

#include <string.h>
#include <strings.h>

static const char gallery_prefix[] = "gallery:";
static const char streamed_prefix[] = "source:";

static const struct {
    const char *suffix;
    peigh_status (*open)(struct source *source, const char *path,
                         struct failure *f);
} formats[] = {
    {".npy", source_open_npy},
    {".mtx", source_open_mtx},
};

enum { FORMATS = sizeof formats / sizeof formats[0] };

static bool ends_with(const char *text, const char *suffix)
{
    size_t length = strlen(text), tail = strlen(suffix);
    return length > tail && strcasecmp(text + length - tail, suffix) == 0;
}

static peigh_status open_file(struct source *source, const char *path,
                              struct failure *f)
{
    for (int format = 0; format < FORMATS; format++)
        if (ends_with(path, formats[format].suffix))
            return formats[format].open(source, path, f);
    if (hdf5_is_name(path))
        return source_open_hdf5(source, path, f);
    return fail(f, PEIGH_ERR_ARGUMENT,
                "'%.200s' names no matrix: FILE.npy, FILE.mtx, "
                "FILE.h5:/DATASET or gallery:NAME[,key=value...] is accepted, "
                "any other FILE with --raw", path);
}

peigh_status source_open(struct source *source, const char *spec, int64_t n,
                         uint64_t seed, struct failure *f)
{
    memset(source, 0, sizeof *source);
    if (spec == NULL)
        spec = "";
    if (strncmp(spec, gallery_prefix, sizeof gallery_prefix - 1) == 0)
        return source_open_gallery(source, spec, n, seed, f);
    bool streamed = strncmp(spec, streamed_prefix,
                            sizeof streamed_prefix - 1) == 0;
    if ((streamed ? source_open_streamed : open_file)(source, spec, f))
        return f->status;
    return source_check_order(source, n, f);
}

void source_close(struct source *source)
{
    if (source->close)
        source->close(source);
    memset(source, 0, sizeof *source);
}
