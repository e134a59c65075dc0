// The bodies of stb's functions, compiled without the warnings that heddle's own code is held to.
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include "stb_headers.hpp"
