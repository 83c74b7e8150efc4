#include "api/openapi.h"

// src/api/openapi_file.S
extern "C" const char kQwickOpenapi[];
extern "C" const char kQwickOpenapiEnd[];

namespace qwick::api {

std::string_view openapi_document() {
  return {kQwickOpenapi, static_cast<size_t>(kQwickOpenapiEnd - kQwickOpenapi)};
}

}  // namespace qwick::api
