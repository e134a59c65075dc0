// Loads and stores of a GPU thread, in the widest pieces that alignment allows.
#pragma once

namespace heddle::device {

/// How matrix data is loaded: it is read once, and should not evict x from the caches.
enum Load {
  load_default,      // read-only, cached in L1 and L2
  load_streaming,    // evicted first from both
  load_no_allocate,  // not kept in L1
  load_by_policy,    // not kept in L1, and in L2 as a policy says
  load_coherent      // written by other blocks of the running kernel, or in shared memory
};

/// For load_by_policy: how long L2 keeps what is loaded.
using CachePolicy = unsigned long long;

__device__ __forceinline__ CachePolicy evict_first() {
  CachePolicy policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
__device__ __forceinline__ CachePolicy evict_last() {
  CachePolicy policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
/// The policy of piece number `piece` of a matrix, in the order of loading: `kept` percent of the
/// pieces stay. They are spread evenly, so that the two memories deliver at the same time.
__device__ __forceinline__ CachePolicy policy_of_piece(unsigned piece, unsigned kept) {
  return piece % 100 * kept % 100 < kept ? evict_last() : evict_first();
}

template <int How>
__device__ __forceinline__ void load_piece(uint4& v, const uint4* p, CachePolicy policy) {
  if constexpr (How == load_default) {
    v = __ldg(p);
  } else if constexpr (How == load_streaming) {
    v = __ldcs(p);
  } else if constexpr (How == load_no_allocate) {
    asm("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
        : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
        : "l"(p));
  } else if constexpr (How == load_by_policy) {
    asm("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0,%1,%2,%3}, [%4], %5;"
        : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
        : "l"(p), "l"(policy));
  } else {
    v = *p;
  }
}
template <int How>
__device__ __forceinline__ void load_piece(uint2& v, const uint2* p, CachePolicy policy) {
  if constexpr (How == load_default) {
    v = __ldg(p);
  } else if constexpr (How == load_streaming) {
    v = __ldcs(p);
  } else if constexpr (How == load_no_allocate) {
    asm("ld.global.nc.L1::no_allocate.v2.u32 {%0,%1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(p));
  } else if constexpr (How == load_by_policy) {
    asm("ld.global.nc.L1::no_allocate.L2::cache_hint.v2.u32 {%0,%1}, [%2], %3;"
        : "=r"(v.x), "=r"(v.y)
        : "l"(p), "l"(policy));
  } else {
    v = *p;
  }
}
template <int How>
__device__ __forceinline__ void load_piece(unsigned& v, const unsigned* p, CachePolicy policy) {
  if constexpr (How == load_default) {
    v = __ldg(p);
  } else if constexpr (How == load_streaming) {
    v = __ldcs(p);
  } else if constexpr (How == load_no_allocate) {
    asm("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(v) : "l"(p));
  } else if constexpr (How == load_by_policy) {
    asm("ld.global.nc.L1::no_allocate.L2::cache_hint.u32 %0, [%1], %2;"
        : "=r"(v)
        : "l"(p), "l"(policy));
  } else {
    v = *p;
  }
}

/// Scalars of 16 bits that lie apart.
template <int How>
__device__ __forceinline__ void load_piece(unsigned short& v, const unsigned short* p,
                                           CachePolicy policy) {
  if constexpr (How == load_default) {
    v = __ldg(p);
  } else if constexpr (How == load_streaming) {
    v = __ldcs(p);
  } else if constexpr (How == load_no_allocate) {
    asm("ld.global.nc.L1::no_allocate.u16 %0, [%1];" : "=h"(v) : "l"(p));
  } else if constexpr (How == load_by_policy) {
    asm("ld.global.nc.L1::no_allocate.L2::cache_hint.u16 %0, [%1], %2;"
        : "=h"(v)
        : "l"(p), "l"(policy));
  } else {
    v = *p;
  }
}

/// Scalars of one byte.
template <int How>
__device__ __forceinline__ void load_piece(unsigned char& v, const unsigned char* p,
                                           CachePolicy policy) {
  if constexpr (How == load_default) {
    v = __ldg(p);
  } else if constexpr (How == load_streaming) {
    v = __ldcs(p);
  } else if constexpr (How == load_no_allocate || How == load_by_policy) {
    unsigned short wide;  // the narrowest register
    if constexpr (How == load_no_allocate) {
      asm("ld.global.nc.L1::no_allocate.u8 %0, [%1];" : "=h"(wide) : "l"(p));
    } else {
      asm("ld.global.nc.L1::no_allocate.L2::cache_hint.u8 %0, [%1], %2;"
          : "=h"(wide)
          : "l"(p), "l"(policy));
    }
    v = static_cast<unsigned char>(wide);
  } else {
    v = *p;
  }
}

template <int Bytes>
struct Piece;
template <>
struct Piece<16> {
  using type = uint4;
};
template <>
struct Piece<8> {
  using type = uint2;
};
template <>
struct Piece<4> {
  using type = unsigned;
};
template <>
struct Piece<2> {
  using type = unsigned short;
};
template <>
struct Piece<1> {
  using type = unsigned char;
};

/// The widest of 16, 8, 4, 2 and 1 bytes that divides `bytes`.
constexpr int piece_bytes(int bytes) {
  return bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1;
}

/// `Count` scalars at an address aligned to `Align` bytes.
template <int How, int Count, int Align, class S>
__device__ __forceinline__ void load_scalars(S* to, const S* from, CachePolicy policy = 0) {
  constexpr int bytes = Count * int(sizeof(S));
  constexpr int wide = piece_bytes(bytes) < Align ? piece_bytes(bytes) : Align;
  using P = typename Piece<wide>::type;
#pragma unroll
  for (int i = 0; i < bytes / wide; ++i) {
    P piece;
    load_piece<How>(piece, reinterpret_cast<const P*>(from) + i, policy);
    memcpy(reinterpret_cast<char*>(to) + i * wide, &piece, wide);
  }
}

template <int Count, class S>
__device__ __forceinline__ void store_scalars(S* to, const S* from) {
  constexpr int bytes = Count * int(sizeof(S));
  constexpr int wide = piece_bytes(bytes);
  using P = typename Piece<wide>::type;
#pragma unroll
  for (int i = 0; i < bytes / wide; ++i) {
    P piece;
    memcpy(&piece, reinterpret_cast<const char*>(from) + i * wide, wide);
    reinterpret_cast<P*>(to)[i] = piece;
  }
}

}  // namespace heddle::device
