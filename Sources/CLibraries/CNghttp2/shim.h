// libnghttp2 as it is.
#pragma once
#include <nghttp2/nghttp2.h>
