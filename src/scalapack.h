/* BLACS and ScaLAPACK come without C headers: what we call of them. */
#ifndef SCALAPACK_H
#define SCALAPACK_H

#include <mpi.h>

void Cblacs_pinfo(int *rank, int *ranks);
int Csys2blacs_handle(MPI_Comm comm);
void Cfree_blacs_system_handle(int handle);
void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
void Cblacs_gridinfo(int context, int *rows, int *columns, int *row,
                     int *column);
void Cblacs_gridexit(int context);
int numroc_(const int *n, const int *nb, const int *coordinate,
            const int *source, const int *processes);
void descinit_(int *desc, const int *m, const int *n, const int *mb,
               const int *nb, const int *row_source, const int *column_source,
               const int *context, const int *lld, int *info);
void pdsyev_(const char *jobz, const char *uplo, const int *n, double *a,
             const int *ia, const int *ja, const int *desca, double *w,
             double *z, const int *iz, const int *jz, const int *descz,
             double *work, const int *lwork, int *info);
void pdsyevd_(const char *jobz, const char *uplo, const int *n, double *a,
              const int *ia, const int *ja, const int *desca, double *w,
              double *z, const int *iz, const int *jz, const int *descz,
              double *work, const int *lwork, int *iwork, const int *liwork,
              int *info);
void pdsyevr_(const char *jobz, const char *range, const char *uplo,
              const int *n, double *a, const int *ia, const int *ja,
              const int *desca, const double *vl, const double *vu,
              const int *il, const int *iu, int *m, int *nz, double *w,
              double *z, const int *iz, const int *jz, const int *descz,
              double *work, const int *lwork, int *iwork, const int *liwork,
              int *info);

#endif
