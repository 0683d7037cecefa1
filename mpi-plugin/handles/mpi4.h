/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi4.h - mpi.h, and the functions of MPI 4.0 that only Open MPI 5.0's mpi.h
 * declares. A program built with that mpi.h must run whatever mpi.h the
 * stand-in was built with.
 */
#ifndef CKPT_MPI4_H
#define CKPT_MPI4_H

#include <mpi.h>

#if OMPI_MAJOR_VERSION < 5

typedef struct ompi_instance_t *MPI_Session;
typedef void(MPI_Session_errhandler_function)(MPI_Session *, int *, ...);
typedef struct {
    MPI_Fint MPI_SOURCE;
    MPI_Fint MPI_TAG;
    MPI_Fint MPI_ERROR;
    MPI_Fint internal[sizeof(MPI_Status) / sizeof(MPI_Fint) - 3];
} MPI_F08_status;

extern struct ompi_predefined_instance_t ompi_mpi_instance_null;
extern struct ompi_predefined_datatype_t ompi_mpi_complex4;
extern struct ompi_predefined_errhandler_t ompi_mpi_errors_abort;
extern MPI_Fint *MPI_F08_STATUS_IGNORE;
extern MPI_Fint *MPI_F08_STATUSES_IGNORE;

#define MPI_SESSION_NULL \
    OMPI_PREDEFINED_GLOBAL(MPI_Session, ompi_mpi_instance_null)
#define MPI_COMPLEX4 OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_complex4)
#define MPI_ERRORS_ABORT \
    OMPI_PREDEFINED_GLOBAL(MPI_Errhandler, ompi_mpi_errors_abort)
#define MPI_MAX_PSET_NAME_LEN          512
#define MPI_MAX_STRINGTAG_LEN          1024
#define MPI_ERR_PROC_ABORTED           74
#define MPI_ERR_SESSION                78
#define MPI_ERR_VALUE_TOO_LARGE        79
#define MPI_INFO_KEY_SESSION_PSET_SIZE "mpi_size"

#define CKPT_MPI4(result, name, ...) \
    result MPI_##name(__VA_ARGS__);  \
    result PMPI_##name(__VA_ARGS__)

/* Persistent collectives. */
CKPT_MPI4(int, Allgather_init, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
          void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
          MPI_Request *request);
CKPT_MPI4(int, Allgatherv_init, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
          void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
          MPI_Comm comm, MPI_Info info, MPI_Request *request);
CKPT_MPI4(int, Allreduce_init, const void *sendbuf, void *recvbuf, int count,
          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
          MPI_Request *request);
CKPT_MPI4(int, Alltoall_init, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
          void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
          MPI_Request *request);
CKPT_MPI4(int, Alltoallv_init, const void *sendbuf, const int sendcounts[], const int sdispls[],
          MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
          MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request);
CKPT_MPI4(int, Alltoallw_init, const void *sendbuf, const int sendcounts[], const int sdispls[],
          const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
          const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
          MPI_Request *request);
CKPT_MPI4(int, Barrier_init, MPI_Comm comm, MPI_Info info, MPI_Request *request);
CKPT_MPI4(int, Bcast_init, void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
          MPI_Info info, MPI_Request *request);
CKPT_MPI4(int, Exscan_init, const void *sendbuf, void *recvbuf, int count,
          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
          MPI_Request *request);
CKPT_MPI4(int, Gather_init, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
          void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
          MPI_Info info, MPI_Request *request);
CKPT_MPI4(int, Gatherv_init, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
          void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
          int root, MPI_Comm comm, MPI_Info info, MPI_Request *request);
CKPT_MPI4(int, Neighbor_allgather_init, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
          void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
          MPI_Request *request);
CKPT_MPI4(int, Neighbor_allgatherv_init, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
          void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
          MPI_Comm comm, MPI_Info info, MPI_Request *request);
CKPT_MPI4(int, Neighbor_alltoall_init, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
          void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
          MPI_Request *request);
CKPT_MPI4(int, Neighbor_alltoallv_init, const void *sendbuf, const int sendcounts[],
          const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
          const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
          MPI_Request *request);
CKPT_MPI4(int, Neighbor_alltoallw_init, const void *sendbuf, const int sendcounts[],
          const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
          const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
          MPI_Comm comm, MPI_Info info, MPI_Request *request);
CKPT_MPI4(int, Reduce_init, const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
          MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request);
CKPT_MPI4(int, Reduce_scatter_block_init, const void *sendbuf, void *recvbuf,
          int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
          MPI_Info info, MPI_Request *request);
CKPT_MPI4(int, Reduce_scatter_init, const void *sendbuf, void *recvbuf, const int recvcounts[],
          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request);
CKPT_MPI4(int, Scan_init, const void *sendbuf, void *recvbuf, int count,
          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
          MPI_Request *request);
CKPT_MPI4(int, Scatter_init, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
          void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
          MPI_Info info, MPI_Request *request);
CKPT_MPI4(int, Scatterv_init, const void *sendbuf, const int sendcounts[], const int displs[],
          MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
          MPI_Comm comm, MPI_Info info, MPI_Request *request);

/* Partitioned communication. */
CKPT_MPI4(int, Parrived, MPI_Request request, int partition, int *flag);
CKPT_MPI4(int, Pready, int partitions, MPI_Request request);
CKPT_MPI4(int, Pready_list, int length, int partition_list[], MPI_Request request);
CKPT_MPI4(int, Pready_range, int partition_low, int partition_high, MPI_Request request);
CKPT_MPI4(int, Precv_init, void *buf, int partitions, MPI_Count count, MPI_Datatype datatype,
          int source, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request);
CKPT_MPI4(int, Psend_init, const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype,
          int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request);

/* Sessions. */
CKPT_MPI4(int, Comm_create_from_group, MPI_Group group, const char *tag,
          MPI_Info info, MPI_Errhandler errhandler, MPI_Comm *newcomm);
CKPT_MPI4(int, Group_from_session_pset, MPI_Session session, const char *pset_name,
          MPI_Group *newgroup);
CKPT_MPI4(int, Intercomm_create_from_groups, MPI_Group local_group, int local_leader,
          MPI_Group remote_group, int remote_leader, const char *tag, MPI_Info info,
          MPI_Errhandler errhandler, MPI_Comm *newintercomm);
CKPT_MPI4(int, Session_c2f, const MPI_Session session);
CKPT_MPI4(int, Session_call_errhandler, MPI_Session session, int errorcode);
CKPT_MPI4(int, Session_create_errhandler, MPI_Session_errhandler_function *session_errhandler_fn,
          MPI_Errhandler *errhandler);
CKPT_MPI4(MPI_Session, Session_f2c, int session);
CKPT_MPI4(int, Session_finalize, MPI_Session *session);
CKPT_MPI4(int, Session_get_errhandler, MPI_Session session, MPI_Errhandler *erhandler);
CKPT_MPI4(int, Session_get_info, MPI_Session session, MPI_Info *info_used);
CKPT_MPI4(int, Session_get_nth_pset, MPI_Session session, MPI_Info info, int n,
          int *len, char *pset_name);
CKPT_MPI4(int, Session_get_num_psets, MPI_Session session, MPI_Info info, int *npset_names);
CKPT_MPI4(int, Session_get_pset_info, MPI_Session session, const char *pset_name,
          MPI_Info *info_used);
CKPT_MPI4(int, Session_init, MPI_Info info, MPI_Errhandler errhandler,
          MPI_Session *session);
CKPT_MPI4(int, Session_set_errhandler, MPI_Session session, MPI_Errhandler erhandler);
CKPT_MPI4(int, Session_set_info, MPI_Session session, MPI_Info info);

/* Others. */
CKPT_MPI4(int, Comm_idup_with_info, MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm,
          MPI_Request *request);
CKPT_MPI4(int, Info_create_env, int argc, char *argv[], MPI_Info *info);
CKPT_MPI4(int, Info_get_string, MPI_Info info, const char *key, int *buflen,
          char *value, int *flag);
CKPT_MPI4(int, Isendrecv, const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest,
          int sendtag, void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
          MPI_Comm comm, MPI_Request *request);
CKPT_MPI4(int, Isendrecv_replace, void *buf, int count, MPI_Datatype datatype,
          int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
          MPI_Request *request);
CKPT_MPI4(int, Status_c2f08, const MPI_Status *c_status, MPI_F08_status *f08_status);
CKPT_MPI4(int, Status_f082c, const MPI_F08_status *f08_status, MPI_Status *c_status);
CKPT_MPI4(int, Status_f082f, const MPI_F08_status *f08_status, int *f_status);
CKPT_MPI4(int, Status_f2f08, const int *f_status, MPI_F08_status *f08_status);

#endif
#endif
