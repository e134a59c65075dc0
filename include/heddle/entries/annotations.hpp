// Annotations that let one text be compiled by the host compiler, nvcc and NVRTC.
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

// Goes in front of a loop: unrolls it twice where a CPU runs it.
#if defined(__CUDACC__)
#define HEDDLE_TWO_TURNS_ON_CPU
#elif defined(__clang__)
#define HEDDLE_TWO_TURNS_ON_CPU _Pragma("clang loop unroll_count(2)")
#else
#define HEDDLE_TWO_TURNS_ON_CPU _Pragma("GCC unroll 2")
#endif
