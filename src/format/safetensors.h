// safetensors: an 8-byte header length, a JSON header, then the tensors' bytes; one file, or shards
// with an index ("weight_map"). Called by model/; the files stay mapped as long as this object.
// Everything is checked: a broken file throws Error kInvalidFile with the file, the tensor's name
// and the byte offset; element types other than F32, F16 and BF16 are kUnsupported.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "format/tensor.h"

namespace qwick {

class Safetensors {
 public:
  // model.safetensors, or the shards that model.safetensors.index.json names. A tensor in a shard
  // that the index does not name, in two shards, or named and not there: Error.
  static Safetensors open(const FileSet& files);
  static Safetensors open_file(MappedFile file);

  // In the order of their bytes, shard by shard. Data is aligned to the element's size in the file.
  const std::vector<TensorView>& tensors() const { return tensors_; }
  const std::vector<MappedFile>& files() const { return files_; }

 private:
  std::vector<MappedFile> files_;
  std::vector<TensorView> tensors_;
};

}  // namespace qwick
