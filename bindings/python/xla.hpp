// Functions of Python as calls that XLA makes while it runs a program, for heddle.jax.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>

#include "call.hpp"

/// The part of xla/ffi/api/c_api.h that is used here, as it is in all versions from 0.1 to 0.4. XLA
/// keeps this ABI, so neither its headers nor JAX are needed to build. Names are XLA's, without
/// XLA_FFI_.
namespace heddle_python::xla {

struct Extension {
  std::size_t struct_size;
  int type;
  Extension* next;
};
constexpr int of_metadata = 1;
constexpr int known_version = 4;

struct Version {
  std::size_t struct_size;
  Extension* extension_start;
  int major_version, minor_version;
};
struct Metadata {
  std::size_t struct_size;
  Version api_version;
  std::uint32_t traits;
};
struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

struct Error;  // XLA's own
struct ErrorCreateArguments {
  std::size_t struct_size;
  Extension* extension_start;
  const char* message;
  int code;
};
struct StreamGetArguments {
  std::size_t struct_size;
  Extension* extension_start;
  void* context;
  void* stream;  // out
};
struct Api {
  std::size_t struct_size;
  Extension* extension_start;
  Version api_version;
  const void* internal_api;
  Error* (*error_create)(ErrorCreateArguments*);
  void (*error_get_message)(void*);
  void (*error_destroy)(void*);
  Error* (*handler_register)(void*);
  Error* (*stream_get)(StreamGetArguments*);
};

struct Buffer {
  std::size_t struct_size;
  Extension* extension_start;
  int dtype;
  void* data;
  std::int64_t rank;
  std::int64_t* dims;
};
/// Arguments, or results.
struct Buffers {
  std::size_t struct_size;
  Extension* extension_start;
  std::int64_t size;
  int* types;
  Buffer** values;
};
struct Scalar {
  int dtype;
  void* value;
};
/// Sorted by name.
struct Attributes {
  std::size_t struct_size;
  Extension* extension_start;
  std::int64_t size;
  int* types;
  void** names;
  Scalar** values;
};
struct CallFrame {
  std::size_t struct_size;
  Extension* extension_start;
  const Api* api;
  void* context;
  int stage;
  Buffers arguments, results;
  Attributes attributes;
};
static_assert(std::is_standard_layout_v<CallFrame> && sizeof(Buffers) == 40);

/// The function that every call gets. It lives as long as the process, as XLA never forgets a
/// handler.
inline PyObject* function = nullptr;

inline Error* failed(const CallFrame& frame, const std::string& words) {
  constexpr int aborted = 10;
  constexpr std::size_t size = offsetof(ErrorCreateArguments, code) + sizeof(int);
  ErrorCreateArguments error{size, nullptr, words.c_str(), aborted};
  return frame.api->error_create(&error);
}

inline nb::list places_of(const Buffers& buffers) {
  nb::list all;
  for (std::int64_t k = 0; k < buffers.size; ++k) {
    const Buffer& buffer = *buffers.values[k];
    nb::list shape;
    for (std::int64_t axis = 0; axis < buffer.rank; ++axis) shape.append(buffer.dims[axis]);
    all.append(nb::make_tuple(reinterpret_cast<std::uintptr_t>(buffer.data), nb::tuple(shape)));
  }
  return all;
}

/// The kind of an exception and its text, if that can be made.
inline std::string words_of(const nb::python_error& error) {
  std::string words = "an exception";
  try {
    words = nb::cast<std::string>(error.type().attr("__name__"));
    words += std::string(": ") + nb::str(error.value()).c_str();
  } catch (const std::exception&) {
  }
  return words;
}

/// Answers XLA's question for the version, and calls Python in every other case. A handler that
/// ctypes made would not do: it returns garbage if Ctrl-C is raised before its first statement.
template <bool on_gpu>
Error* handle(CallFrame* frame) {
  if (frame->extension_start != nullptr && frame->extension_start->type == of_metadata) {
    auto* const asked = reinterpret_cast<MetadataExtension*>(frame->extension_start);
    const int newest =
        frame->api != nullptr ? frame->api->api_version.minor_version : known_version;
    asked->metadata->api_version = {sizeof(Version), nullptr, 0, std::min(newest, known_version)};
    asked->metadata->traits = 0;  // not for XLA's graphs: those of a solve have conditions
    return nullptr;
  }
  if (frame->arguments.struct_size != sizeof(Buffers)) {
    return failed(*frame, "heddle was not made for the structures of this version of XLA");
  }
  StreamGetArguments on{sizeof on, nullptr, frame->context, nullptr};
  if (on_gpu) {
    if (Error* const error = frame->api->stream_get(&on)) return error;
  }
  if (Py_IsInitialized() == 0 || Absence::is_over()) {
    return failed(*frame, "the interpreter ends");
  }
  const nb::gil_scoped_acquire held;
  try {
    nb::list numbers;
    for (std::int64_t k = 0; k < frame->attributes.size; ++k) {
      numbers.append(*static_cast<const std::int64_t*>(frame->attributes.values[k]->value));
    }
    const nb::handle of_python = function;
    of_python(places_of(frame->arguments), places_of(frame->results), numbers,
              reinterpret_cast<std::uintptr_t>(on.stream));
    return nullptr;
  } catch (const nb::python_error& error) {
    return failed(*frame, words_of(error));
  } catch (const std::exception& error) {
    return failed(*frame, error.what());
  }
}

/// Handlers for a CPU and for a GPU, as JAX registers them, that call
/// `of_python(arguments, results, attributes, stream)`: addresses with shapes, twice; attributes,
/// which are numbers of 64 bits, in the order of their names; and a cudaStream_t, or 0.
inline nb::tuple handlers(nb::object of_python) {
  function = of_python.release().ptr();
  return nb::make_tuple(nb::capsule(reinterpret_cast<void*>(&handle<false>)),
                        nb::capsule(reinterpret_cast<void*>(&handle<true>)));
}

}  // namespace heddle_python::xla
