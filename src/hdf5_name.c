/* Names of datasets in HDF5 files: FILE.h5:/path/of/dataset.
 *
 * The first ".h5:" or ".hdf5:", in either case of letters, ends the name of
 * the file. */
#include "hdf5_file.h"

#include <string.h>
#include <strings.h>

static const char *const suffixes[] = {".h5", ".hdf5"};
enum { SUFFIXES = sizeof suffixes / sizeof suffixes[0] };

/* The end of the file's name, or NULL: is it none? */
static const char *file_end(const char *text)
{
    for (const char *at = text; *at; at++)
        for (int k = 0; k < SUFFIXES; k++) {
            size_t length = strlen(suffixes[k]);
            if (at > text && at[-1] != '/' &&
                strncasecmp(at, suffixes[k], length) == 0 &&
                (at[length] == ':' || at[length] == 0))
                return at + length;
        }
    return NULL;
}

bool hdf5_is_name(const char *text)
{
    return file_end(text) != NULL;
}

bool hdf5_split(const char *text, struct hdf5_name *name)
{
    const char *end = file_end(text);
    size_t length = end ? (size_t)(end - text) : 0;
    if (!end || *end != ':' || length >= sizeof name->file)
        return false;
    memcpy(name->file, text, length);
    name->file[length] = 0;
    name->dataset = end + 1;
    return true;
}

bool hdf5_dataset_ok(const char *dataset)
{
    size_t length = strlen(dataset);
    return length > 1 && dataset[0] == '/' && dataset[length - 1] != '/' &&
           !strstr(dataset, "//") && !strstr(dataset, "/./");
}

bool hdf5_datasets_apart(const char *a, const char *b)
{
    size_t m = strlen(a), n = strlen(b), common = m < n ? m : n;
    if (strncmp(a, b, common) != 0)
        return true;
    return m != n && (m < n ? b : a)[common] != '/';
}
