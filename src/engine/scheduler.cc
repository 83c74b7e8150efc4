#include "engine/scheduler.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace qwick {
namespace {

// For its tokens and the one after them.
size_t n_blocks_lacking(const Sequence& sequence) {
  return sequence.tokens.size() / kCacheBlockTokens + 1 - sequence.blocks.size();
}

std::span<const int32_t> block_tokens(const Sequence& sequence, size_t first) {
  return std::span(sequence.tokens).subspan(first, kCacheBlockTokens);
}

// May what is next come from the cache?
bool may_reuse(const Sequence& sequence) {
  return sequence.request.use_cache && sequence.n_unscored() == 0 &&
         sequence.blocks.size() * kCacheBlockTokens == sequence.n_cached;
}
// A whole block of it?
bool may_reuse_block(const Sequence& sequence) {
  return may_reuse(sequence) && sequence.n_cached + kCacheBlockTokens < sequence.tokens.size();
}

// What a token of a prompt costs at its beginning; deeper in it more: Scheduler::depth_cost.
constexpr uint32_t kCostAtStart = 64;

}  // namespace

Sequence::Sequence(uint64_t sequence_id, GenerationRequest generation_request)
    : id(sequence_id),
      request(std::move(generation_request)),
      tokens(request.prompt),
      chain{request.cache_space} {
  const size_t most_tokens = tokens.size() + request.max_tokens;
  tokens.reserve(most_tokens);
  blocks.reserve(most_tokens / kCacheBlockTokens + 1);
  chain.reserve(most_tokens / kCacheBlockTokens + 1);
  for (const int32_t token : tokens) note_seen(token, 0);
}

void Sequence::append(int32_t token) {
  tokens.push_back(token);
  note_seen(token, 1);
}

void Sequence::note_seen(int32_t token, uint32_t n_generated) {
  if (!request.sampling.depends_on_past()) return;
  const auto index = static_cast<size_t>(token);
  if (index >= seen_at_.size()) seen_at_.resize(index + 1);
  if (seen_at_[index] == 0) {
    seen.push_back({token, 0});
    seen_at_[index] = static_cast<uint32_t>(seen.size());
  }
  seen[seen_at_[index] - 1].n_generated += n_generated;
}

Scheduler::Scheduler(uint32_t n_blocks, SchedulerOptions options) : blocks_(n_blocks), options_(options) {
  QWICK_CHECK(options_.max_running > 0 && options_.max_step_tokens > 0);
  QWICK_CHECK(options_.max_step_logits >= options_.max_running);
  QWICK_CHECK(options_.max_prompt_tokens_beside_answers > 0);
}

void Scheduler::add(std::unique_ptr<Sequence> sequence) {
  waiting_.push_back(std::move(sequence));
}

std::unique_ptr<Sequence> Scheduler::remove(uint64_t id) {
  const auto take = [id](auto& sequences) {
    const auto found =
        std::find_if(sequences.begin(), sequences.end(), [id](const auto& s) { return s->id == id; });
    std::unique_ptr<Sequence> taken;
    if (found != sequences.end()) {
      taken = std::move(*found);
      sequences.erase(found);
    }
    return taken;
  };
  std::unique_ptr<Sequence> sequence = take(running_);
  if (!sequence) sequence = take(waiting_);
  if (sequence) free_blocks(*sequence);
  return sequence;
}

std::vector<std::unique_ptr<Sequence>> Scheduler::remove_all() {
  std::vector<std::unique_ptr<Sequence>> all;
  while (!running_.empty()) all.push_back(remove(running_.front()->id));
  while (!waiting_.empty()) all.push_back(remove(waiting_.front()->id));
  return all;
}

void Scheduler::plan(StepBatch& batch) {
  batch.copies.clear();
  batch.chunks.clear();
  in_step_.clear();
  keys_being_read_.clear();
  n_logits_left_ = options_.max_step_logits;
  uint32_t n_places = options_.max_step_tokens;
  // By arrival. running_ may lose its end on the way.
  const auto add_chunks = [&](bool of_answers, uint32_t budget) {
    const bool is_beside = !of_answers && !in_step_.empty();
    budget = std::min(budget, n_places);
    for (size_t i = 0; i < running_.size() && budget > 0; ++i) {
      Sequence& sequence = *running_[i];
      if (is_in_step(sequence)) continue;
      if (!of_answers) {
        reuse_prefix(sequence);
        if (is_being_read(sequence)) continue;
        reuse_beginning(sequence, batch);
      }
      if ((sequence.n_left() == 1) != of_answers) continue;
      uint32_t n_wanted = std::min(budget, sequence.n_left());
      const uint32_t cost = is_beside ? depth_cost(sequence.n_cached) : kCostAtStart;
      n_wanted = std::min(n_wanted, std::max(1U, budget * kCostAtStart / cost));
      if (sequence.n_unscored() > 0) n_wanted = std::min(n_wanted, n_logits_left_);
      if (n_wanted == sequence.n_left() && n_logits_left_ == 0) continue;
      const uint32_t n_tokens = reserve(sequence, n_wanted);
      if (n_tokens == 0) continue;
      add_chunk(sequence, n_tokens, batch);
      budget -= std::min(budget, n_tokens * cost / kCostAtStart);
      n_places -= n_tokens;
    }
  };
  add_chunks(true, n_places);
  admit();
  add_chunks(false, in_step_.empty() ? n_places : options_.max_prompt_tokens_beside_answers);
  add_chunks(true, n_places);  // those just admitted whose prompt was all but one token in the cache
}

uint32_t Scheduler::depth_cost(uint32_t depth) const {
  return kCostAtStart + static_cast<uint32_t>(uint64_t{kCostAtStart} * depth / options_.depth_of_double_cost);
}

bool Scheduler::is_in_step(const Sequence& sequence) const {
  return std::find(in_step_.begin(), in_step_.end(), &sequence) != in_step_.end();
}

// Does a sequence before this one read the same block in this step? Then this one waits, and finds it.
bool Scheduler::is_being_read(const Sequence& sequence) const {
  if (!may_reuse_block(sequence)) return false;
  const ChainKey key = chain_key(sequence.chain.back(), block_tokens(sequence, sequence.n_cached));
  return std::find(keys_being_read_.begin(), keys_being_read_.end(), key) != keys_being_read_.end();
}

// Waiting sequences run as soon as there is a place, and blocks for what they and those that run before
// them have to compute, at least one for everybody: less, and it would soon be preempted. Alone, a
// sequence always fits.
void Scheduler::admit() {
  while (!waiting_.empty() && running_.size() < options_.max_running) {
    Sequence& next = *waiting_.front();
    reuse_prefix(next);
    size_t n_needed = n_blocks_lacking(next);
    for (const auto& sequence : running_) n_needed += std::max<size_t>(n_blocks_lacking(*sequence), 1);
    if (!running_.empty() && blocks_.n_available() < n_needed) {
      free_blocks(next);
      return;
    }
    running_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
}

// Takes over remembered blocks; at least one token is left to compute, for its logits.
void Scheduler::reuse_prefix(Sequence& sequence) {
  while (may_reuse_block(sequence)) {
    const auto tokens = block_tokens(sequence, sequence.n_cached);
    const std::optional<int32_t> block = blocks_.reuse(sequence.chain.back(), tokens);
    if (!block) break;
    sequence.blocks.push_back(*block);
    sequence.chain.push_back(chain_key(sequence.chain.back(), tokens));
    sequence.n_cached += kCacheBlockTokens;
    if (sequence.n_generated() == 0) sequence.n_reused += kCacheBlockTokens;
  }
}

// Copies the remembered block that begins like what is next, where there is one, and a block to be had.
void Scheduler::reuse_beginning(Sequence& sequence, StepBatch& batch) {
  if (!may_reuse(sequence)) return;
  const size_t n = std::min<size_t>(sequence.n_left() - 1, kCacheBlockTokens - 1);
  const auto found =
      blocks_.find_beginning(sequence.chain.back(), std::span(sequence.tokens).subspan(sequence.n_cached, n));
  if (!found) return;
  const std::optional<int32_t> block = blocks_.allocate();
  if (!block) return;
  // Allocated was, at worst, the very block that was found.
  if (*block != found->block) batch.copies.push_back({found->block, *block});
  sequence.blocks.push_back(*block);
  sequence.n_cached += found->n_tokens;
  if (sequence.n_generated() == 0) sequence.n_reused += found->n_tokens;
}

// Gets blocks for n_tokens more and returns for how many tokens there are some now: when blocks run out
// the youngest sequence gives its own back, unless it is in this step already. 0: it was this one.
uint32_t Scheduler::reserve(Sequence& sequence, uint32_t n_tokens) {
  const size_t n_blocks = (sequence.n_cached + n_tokens + kCacheBlockTokens - 1) / kCacheBlockTokens;
  while (sequence.blocks.size() < n_blocks) {
    if (const std::optional<int32_t> block = blocks_.allocate()) {
      sequence.blocks.push_back(*block);
      continue;
    }
    if (is_in_step(*running_.back())) break;
    std::unique_ptr<Sequence> youngest = std::move(running_.back());
    running_.pop_back();
    ++n_preemptions_;
    const bool is_itself = youngest.get() == &sequence;
    free_blocks(*youngest);
    waiting_.push_front(std::move(youngest));
    if (is_itself) return 0;
  }
  const auto n_places = static_cast<uint32_t>(sequence.blocks.size()) * kCacheBlockTokens;
  return std::min(n_tokens, n_places - sequence.n_cached);
}

void Scheduler::free_blocks(Sequence& sequence) {
  const size_t n_in_full = (sequence.chain.size() - 1) * kCacheBlockTokens;
  if (sequence.request.use_cache && sequence.n_cached > n_in_full) {
    blocks_.remember(sequence.blocks[sequence.chain.size() - 1], sequence.chain.back(),
                     std::span(sequence.tokens).subspan(n_in_full, sequence.n_cached - n_in_full));
  }
  // The end of a chain is useless without its beginning: it is to be forgotten first.
  for (auto block = sequence.blocks.rbegin(); block != sequence.blocks.rend(); ++block)
    blocks_.release(*block);
  sequence.blocks.clear();
  sequence.chain.resize(1);
  sequence.n_cached = 0;
  if (sequence.n_generated() == 0) sequence.n_reused = 0;
}

void Scheduler::add_chunk(Sequence& sequence, uint32_t n_tokens, StepBatch& batch) {
  uint32_t n_logits = n_tokens == sequence.n_left() ? 1 : 0;
  if (sequence.n_unscored() > 0) n_logits = n_tokens;
  n_logits_left_ -= n_logits;
  batch.chunks.push_back({sequence.blocks, sequence.n_cached,
                          std::span(sequence.tokens).subspan(sequence.n_cached, n_tokens), n_logits});
  in_step_.push_back(&sequence);
  if (!sequence.request.use_cache) return;
  ChainKey key = sequence.chain.back();
  const uint32_t end = sequence.n_cached + n_tokens;
  for (size_t first = (sequence.chain.size() - 1) * kCacheBlockTokens;
       first < end && first + kCacheBlockTokens <= sequence.tokens.size(); first += kCacheBlockTokens) {
    key = chain_key(key, block_tokens(sequence, first));
    keys_being_read_.push_back(key);
  }
}

void Scheduler::note_computed(Sequence& sequence, uint32_t n_tokens) {
  sequence.n_cached += n_tokens;
  for (size_t full = sequence.chain.size(); full * kCacheBlockTokens <= sequence.n_cached; ++full) {
    const auto tokens = block_tokens(sequence, (full - 1) * kCacheBlockTokens);
    if (sequence.request.use_cache)
      blocks_.remember(sequence.blocks[full - 1], sequence.chain.back(), tokens);
    sequence.chain.push_back(chain_key(sequence.chain.back(), tokens));
  }
}

}  // namespace qwick
