// The texts of these kernels: their header becomes part of each program that includes this file.
#pragma once

#include "heddle/assembly.hpp"
#include "support/element_kernels.hpp"

HEDDLE_KERNEL(heddle::test::PlacesKernel, "element_kernels.hpp")
HEDDLE_KERNEL(heddle::test::AddNumber, "element_kernels.hpp")

/// HEDDLE_KERNEL for a template.
template <class E>
struct heddle::detail::entry_text_of<heddle::test::NumbersKernel<E>> {
  static EntryText text() {
    return {"heddle::test::NumbersKernel<" + entry_text_of<E>::text().type + ">",
            {"element_kernels.hpp"}};
  }
};
