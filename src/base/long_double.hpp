// Instantiations for long double, in the builds that have them (HEDDLE_LONG_DOUBLE).
#pragma once

#ifdef HEDDLE_HAS_LONG_DOUBLE
#define HEDDLE_IN_LONG_DOUBLE(...) __VA_ARGS__
#else
#define HEDDLE_IN_LONG_DOUBLE(...)
#endif
