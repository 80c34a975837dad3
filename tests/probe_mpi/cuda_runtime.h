/* In place of CUDA's header, for the processes of forerun-probe-mpi: a machine of four GPUs that are not there. What runs on a GPU
 * is the worker's, whom fake_nccl.cc stands for. */
#ifndef TEST_PROBE_MPI_CUDA_RUNTIME_H
#define TEST_PROBE_MPI_CUDA_RUNTIME_H

#include <stdio.h>
#include <string.h>

#define FAKE_GPUS 4

enum cudaError_t { cudaSuccess = 0, cudaErrorMemoryAllocation = 2 };
enum cudaDeviceAttr { cudaDevAttrClockRate, cudaDevAttrMemoryClockRate };
enum cudaDeviceP2PAttr { cudaDevP2PAttrPerformanceRank };

struct cudaDeviceProp {
  char name[256];
  struct {
    char bytes[16];
  } uuid;
  int major, minor, multiProcessorCount, l2CacheSize;
  size_t totalGlobalMem;
};

inline cudaError_t
fake_number (int *out, int value)
{
  *out = value;
  return cudaSuccess;
}

inline cudaError_t
cudaGetDeviceCount (int *out)
{
  return fake_number (out, FAKE_GPUS);
}

inline cudaError_t
cudaGetDevice (int *out)
{
  return fake_number (out, 0);
}

inline cudaError_t
cudaRuntimeGetVersion (int *out)
{
  return fake_number (out, 13000);
}

inline cudaError_t
cudaDriverGetVersion (int *out)
{
  return fake_number (out, 13000);
}

inline cudaError_t
cudaDeviceGetAttribute (int *out, cudaDeviceAttr, int)
{
  return fake_number (out, 1000000);
}

inline cudaError_t
cudaDeviceCanAccessPeer (int *out, int, int)
{
  return fake_number (out, 1);
}

inline cudaError_t
cudaDeviceGetP2PAttribute (int *out, cudaDeviceP2PAttr, int, int)
{
  return fake_number (out, 0);
}

inline cudaError_t
cudaGetDeviceProperties (cudaDeviceProp *out, int)
{
  memset (out, 0, sizeof *out);
  strcpy (out->name, "no GPU");
  return cudaSuccess;
}

inline cudaError_t
cudaDeviceGetPCIBusId (char *out, int size, int device)
{
  snprintf (out, (size_t)size, "0000:0%d:00.0", device);
  return cudaSuccess;
}

inline cudaError_t
cudaSetDevice (int)
{
  return cudaSuccess;
}

inline cudaError_t
cudaFree (void *)
{
  return cudaSuccess;
}

inline cudaError_t
cudaGetLastError (void)
{
  return cudaSuccess;
}

inline const char *
cudaGetErrorString (cudaError_t)
{
  return "no error";
}

inline const char *
cudaGetErrorName (cudaError_t)
{
  return "cudaSuccess";
}

#endif
