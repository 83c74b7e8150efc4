// The whole way of a text: added tokens are cut out, the rest is normalized, added tokens that want
// normalized text are cut out of it, what remains is split into pieces and each piece merged.
#include "text/tokenizer.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "base/error.h"
#include "text/bpe.h"
#include "text/tokenizer_files.h"
#include "text/unicode.h"

namespace qwick {
namespace {

AddedTokenMatcher make_matcher(const TokenizerFiles& files, bool normalized) {
  std::vector<AddedToken> tokens;
  for (AddedToken token : files.added) {
    if (token.normalized != normalized) continue;
    if (normalized && files.nfc) {
      std::string buffer;
      token.content = std::string(normalize_nfc(token.content, buffer));
    }
    tokens.push_back(std::move(token));
  }
  return AddedTokenMatcher(std::move(tokens));
}

}  // namespace

struct Tokenizer::Impl {
  explicit Impl(TokenizerFiles files)
      : raw_matcher(make_matcher(files, false)),
        normalized_matcher(make_matcher(files, true)),
        bpe(std::move(files.vocabulary), files.merges, files.ignore_merges),
        pre_tokenizer(files.pre_tokenizer),
        nfc(files.nfc),
        bos(files.bos),
        eos(files.eos),
        special(static_cast<size_t>(bpe.vocabulary().size())) {
    for (const AddedToken& token : files.added) {
      added.emplace(token.content, token.id);
      if (token.special) special[static_cast<size_t>(token.id)] = true;
    }
  }

  const Vocabulary& vocabulary() const { return bpe.vocabulary(); }

  // Calls plain(text) and token(id) for what a scan finds, in order.
  template <typename Plain>
  void split(const AddedTokenMatcher& matcher, std::string_view text, SpecialText mode,
             std::vector<int32_t>& out, Plain plain) const {
    AddedTokenMatcher::Scan scan(matcher, text, mode == SpecialText::kPlain);
    size_t covered = 0;
    while (const auto match = scan.next()) {
      if (covered < match->begin) plain(text.substr(covered, match->begin - covered));
      out.push_back(match->id);
      covered = match->end;
    }
    if (covered < text.size()) plain(text.substr(covered));
  }

  void encode_pieces(std::string_view text, std::vector<int32_t>& out) const {
    for (size_t pos = 0; pos < text.size();) {
      const size_t end = next_piece(pre_tokenizer, text, pos);
      bpe.encode_piece(text.substr(pos, end - pos), out);
      pos = end;
    }
  }

  AddedTokenMatcher raw_matcher;         // for text as it comes
  AddedTokenMatcher normalized_matcher;  // for normalized text
  Bpe bpe;
  PreTokenizer pre_tokenizer;
  bool nfc;
  std::optional<int32_t> bos, eos;
  std::vector<bool> special;  // by id
  std::map<std::string, int32_t, std::less<>> added;
};

Tokenizer::Tokenizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Tokenizer Tokenizer::from_hf(const FileSet& files) {
  return Tokenizer(std::make_unique<Impl>(read_tokenizer_json(files)));
}

Tokenizer Tokenizer::from_gguf(const GgufFile& file) {
  return Tokenizer(std::make_unique<Impl>(read_tokenizer_gguf(file)));
}

std::vector<int32_t> Tokenizer::encode(std::string_view text, SpecialText special) const {
  std::vector<int32_t> out;
  out.reserve(text.size() / 3 + 8);
  std::string buffer;
  impl_->split(impl_->raw_matcher, text, special, out, [&](std::string_view plain) {
    const std::string_view normal = impl_->nfc ? normalize_nfc(plain, buffer) : plain;
    impl_->split(impl_->normalized_matcher, normal, special, out,
                 [&](std::string_view rest) { impl_->encode_pieces(rest, out); });
  });
  return out;
}

std::string Tokenizer::decode_bytes(std::span<const int32_t> ids, bool skip_special) const {
  std::string out;
  for (const int32_t id : ids) {
    if (skip_special && is_special(id)) continue;
    out += token_bytes(id);
  }
  return out;
}

std::string Tokenizer::decode(std::span<const int32_t> ids, bool skip_special) const {
  std::string out;
  append_lossy(decode_bytes(ids, skip_special), false, out);
  return out;
}

int32_t Tokenizer::vocab_size() const {
  return impl_->vocabulary().size();
}
std::string_view Tokenizer::token_bytes(int32_t id) const {
  return impl_->vocabulary().bytes(id);
}
bool Tokenizer::is_used(int32_t id) const {
  return impl_->vocabulary().contains(id);
}
bool Tokenizer::is_special(int32_t id) const {
  return id >= 0 && id < vocab_size() && impl_->special[static_cast<size_t>(id)];
}
std::optional<int32_t> Tokenizer::bos_id() const {
  return impl_->bos;
}
std::optional<int32_t> Tokenizer::eos_id() const {
  return impl_->eos;
}

std::optional<int32_t> Tokenizer::find_token(std::string_view bytes) const {
  if (const auto found = impl_->added.find(bytes); found != impl_->added.end()) return found->second;
  return impl_->vocabulary().find(bytes);
}

std::string Tokenizer::describe() const {
  return fmt::format("byte-level BPE, {} tokens ({} added), {}{} pre-tokenizer", impl_->vocabulary().count(),
                     impl_->added.size(), impl_->nfc ? "NFC, " : "",
                     pre_tokenizer_name(impl_->pre_tokenizer));
}

std::string StreamDecoder::push(int32_t id) {
  if (skip_special_ && tokenizer_->is_special(id)) return {};
  std::string out;
  pending_ += tokenizer_->token_bytes(id);
  pending_.erase(0, append_lossy(pending_, true, out));
  return out;
}

std::string StreamDecoder::flush() {
  std::string out;
  append_lossy(pending_, false, out);
  pending_.clear();
  return out;
}

}  // namespace qwick
