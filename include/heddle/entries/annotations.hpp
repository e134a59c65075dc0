// What lets one text be compiled by the host compiler, nvcc and NVRTC.
#pragma once

#if defined(__CUDACC__)
#define HEDDLE_HD __host__ __device__
#else
#define HEDDLE_HD
#endif

#if defined(__CUDACC__)
#define HEDDLE_INLINE __host__ __device__ __forceinline__
#else
#define HEDDLE_INLINE inline __attribute__((always_inline))
#endif
