/* In place of NCCL's header: what forerun-probe-mpi's own process needs of NCCL is in nccl_lib.h. */
