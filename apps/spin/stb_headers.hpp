// stb's readers and writers of images (Debian: libstb-dev), of which one file holds the bodies.
#pragma once

#define STBI_NO_PSD
#define STBI_NO_GIF
#define STBI_NO_HDR
#define STBI_NO_PIC
#define STBI_NO_PNM
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>
