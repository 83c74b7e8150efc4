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

}  // namespace

Sequence::Sequence(uint64_t sequence_id, GenerationRequest generation_request)
    : id(sequence_id), request(std::move(generation_request)), tokens(request.prompt), chain{0} {
  const size_t most_tokens = tokens.size() + request.max_tokens;
  tokens.reserve(most_tokens);
  blocks.reserve(most_tokens / kCacheBlockTokens + 1);
  chain.reserve(most_tokens / kCacheBlockTokens + 1);
  for (const int32_t token : tokens) note_seen(token);
}

void Sequence::append(int32_t token) {
  tokens.push_back(token);
  note_seen(token);
}

void Sequence::note_seen(int32_t token) {
  if (request.sampling.repetition_penalty == 1) return;
  const auto index = static_cast<size_t>(token);
  if (index >= is_seen.size()) is_seen.resize(index + 1);
  if (!is_seen[index]) seen_ids.push_back(token);
  is_seen[index] = true;
}

Scheduler::Scheduler(uint32_t n_blocks, SchedulerOptions options) : blocks_(n_blocks), options_(options) {
  QWICK_CHECK(options_.max_running > 0 && options_.max_step_tokens > 0);
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
  batch.chunks.clear();
  in_step_.clear();
  uint32_t n_places = options_.max_step_tokens;
  // By arrival. running_ may lose its end on the way.
  const auto add_chunks = [&](bool of_answers, uint32_t budget) {
    budget = std::min(budget, n_places);
    for (size_t i = 0; i < running_.size() && budget > 0; ++i) {
      Sequence& sequence = *running_[i];
      if ((sequence.n_left() == 1) != of_answers || is_in_step(sequence)) continue;
      const uint32_t n_tokens = reserve(sequence, std::min(budget, sequence.n_left()));
      if (n_tokens == 0) continue;
      add_chunk(sequence, n_tokens, batch);
      budget -= n_tokens;
      n_places -= n_tokens;
    }
  };
  add_chunks(true, n_places);
  admit();
  add_chunks(false, in_step_.empty() ? n_places : options_.max_prompt_tokens_beside_answers);
  add_chunks(true, n_places);  // those just admitted whose prompt was all but one token in the cache
}

bool Scheduler::is_in_step(const Sequence& sequence) const {
  return std::find(in_step_.begin(), in_step_.end(), &sequence) != in_step_.end();
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
  if (!sequence.request.use_cache) return;
  const std::span<const int32_t> tokens(sequence.tokens);
  while (sequence.n_cached + kCacheBlockTokens < tokens.size()) {
    const auto block_tokens = tokens.subspan(sequence.n_cached, kCacheBlockTokens);
    const std::optional<int32_t> block = blocks_.reuse(sequence.chain.back(), block_tokens);
    if (!block) break;
    sequence.blocks.push_back(*block);
    sequence.chain.push_back(chain_key(sequence.chain.back(), block_tokens));
    sequence.n_cached += kCacheBlockTokens;
  }
  if (sequence.n_generated() == 0) sequence.n_reused = sequence.n_cached;
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
  // The end of a chain is useless without its beginning: it is to be forgotten first.
  for (auto block = sequence.blocks.rbegin(); block != sequence.blocks.rend(); ++block)
    blocks_.release(*block);
  sequence.blocks.clear();
  sequence.chain.resize(1);
  sequence.n_cached = 0;
}

void Scheduler::add_chunk(Sequence& sequence, uint32_t n_tokens, StepBatch& batch) {
  const bool reaches_end = n_tokens == sequence.n_left();
  batch.chunks.push_back({sequence.blocks, sequence.n_cached,
                          std::span(sequence.tokens).subspan(sequence.n_cached, n_tokens),
                          reaches_end ? 1U : 0U});
  in_step_.push_back(&sequence);
}

void Scheduler::note_computed(Sequence& sequence, uint32_t n_tokens) {
  sequence.n_cached += n_tokens;
  const std::span<const int32_t> tokens(sequence.tokens);
  for (size_t full = sequence.chain.size(); full * kCacheBlockTokens <= sequence.n_cached; ++full) {
    const auto block_tokens = tokens.subspan((full - 1) * kCacheBlockTokens, kCacheBlockTokens);
    if (sequence.request.use_cache)
      blocks_.remember(sequence.blocks[full - 1], sequence.chain.back(), block_tokens);
    sequence.chain.push_back(chain_key(sequence.chain.back(), block_tokens));
  }
}

}  // namespace qwick
