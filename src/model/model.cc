#include "model/model.h"

#include "model/weights.h"

namespace qwick {

Model Model::open(ModelFiles files) {
  Model model(std::move(files));
  if (const auto* directory = std::get_if<FileSet>(&model.files_)) {
    model.config_ = read_hf_config(*directory);
    model.generation_defaults_ = read_hf_generation_defaults(*directory);
    model.safetensors_ = std::make_unique<Safetensors>(Safetensors::open(*directory));
    model.weights_ =
        find_weights(model.config_, model.tensors(), TensorNames::kHuggingFace, directory->name());
  } else {
    const GgufFile& file = *std::get<std::shared_ptr<const GgufFile>>(model.files_);
    model.config_ = read_gguf_config(file);
    model.generation_defaults_ = read_gguf_generation_defaults(file);
    model.weights_ = find_weights(model.config_, model.tensors(), TensorNames::kGguf, file.name());
  }
  std::erase_if(model.generation_defaults_.eos_ids,
                [&](int32_t id) { return static_cast<uint32_t>(id) >= model.config_.vocab_size; });
  return model;
}

const std::vector<TensorView>& Model::tensors() const {
  if (safetensors_) return safetensors_->tensors();
  return std::get<std::shared_ptr<const GgufFile>>(files_)->tensors();
}

std::span<const MappedFile> Model::weight_files() const {
  if (safetensors_) return safetensors_->files();
  return {&std::get<std::shared_ptr<const GgufFile>>(files_)->file(), 1};
}

}  // namespace qwick
