#include "api/openapi.h"

// src/api/openapi_file.S
extern "C" const char qwick_openapi[];
extern "C" const char qwick_openapi_end[];

namespace qwick::api {

std::string_view openapi_document() {
  return {qwick_openapi, static_cast<size_t>(qwick_openapi_end - qwick_openapi)};
}

}  // namespace qwick::api
