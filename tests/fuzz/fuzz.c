/* One fuzzer per reader, for libFuzzer: make fuzz.  FUZZ is the function of
 * fuzz_case.h that gets the bytes. */
#include "../fuzz_case.h"

#include <mpi.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    return MPI_Init(argc, argv) != MPI_SUCCESS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FUZZ(data, size);
    return 0;
}
