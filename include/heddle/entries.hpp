// Every built-in entry.
#pragma once

#include "heddle/entries/block.hpp"
#include "heddle/entries/complex.hpp"
#include "heddle/entries/dual_quaternion.hpp"
#include "heddle/entries/encoded.hpp"
#include "heddle/entries/quaternion.hpp"
#include "heddle/entries/real.hpp"
#include "heddle/entries/stored_as.hpp"
