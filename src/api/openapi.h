// The description of the service in OpenAPI 3.1, for GET /openapi.json: src/api/openapi.json, which is part
// of the binary. Who changes a field, a range or a status changes that file too; tests/e2e/test_openapi.py
// compares.
#pragma once

#include <string_view>

namespace qwick::api {

std::string_view openapi_document();

}  // namespace qwick::api
