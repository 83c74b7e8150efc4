// What a hub says of a model: which files it has, of which size and hash, and where they are. The JSON of
// Hugging Face and of ModelScope to one list; hostile until checked. Called by hub/pull.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hub/blob_hash.h"
#include "hub/model_names.h"

namespace qwick {

struct RemoteFile {
  std::string path;  // safe (is_safe_path)
  uint64_t size = 0;
  BlobHash hash;
  std::string url;
};

struct RemoteModel {
  std::string commit;             // 40 hexadecimal digits
  std::vector<RemoteFile> files;  // those that may be part of a model
};

// Addresses of the lists, and what is in them. `endpoint` has no slash at its end. Parsing throws Error
// kInvalidFile: the hub's answer makes no sense, or names a file that would leave the cache.
std::string hugging_face_list_url(const std::string& endpoint, const HubName& name);
RemoteModel parse_hugging_face_list(std::string_view json, const std::string& endpoint, const HubName& name);

// ModelScope tells no commit: it is the SHA-1 of the list of names, sizes and hashes, so that the same files
// are the same snapshot.
std::string modelscope_list_url(const std::string& endpoint, const HubName& name);
RemoteModel parse_modelscope_list(std::string_view json, const std::string& endpoint, const HubName& name);

// The files of a model that qwick needs, by name: configuration, tokenizer, template and safetensors, or
// one .gguf file. Throws Error kNotFound or kUnsupported, and says what there is instead.
std::vector<RemoteFile> select_files(const RemoteModel& model, const HubName& name);

// Whether a file of this name is one of the configuration, the tokenizer, the template or the weights.
bool is_model_file(std::string_view path);

}  // namespace qwick
