#include "engine/scheduler.h"

#include <algorithm>
#include <utility>

namespace qwick {

Sequence::Sequence(uint64_t sequence_id, GenerationRequest generation_request)
    : id(sequence_id), request(std::move(generation_request)), tokens(request.prompt) {
  tokens.reserve(tokens.size() + request.max_tokens);
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

Scheduler::Scheduler(int32_t n_slots, uint32_t prompt_chunk) : prompt_chunk_(prompt_chunk) {
  for (int32_t slot = n_slots - 1; slot >= 0; --slot) free_slots_.push_back(slot);
}

void Scheduler::add(std::unique_ptr<Sequence> sequence) { waiting_.push_back(std::move(sequence)); }

std::unique_ptr<Sequence> Scheduler::remove(uint64_t id) {
  const auto take = [id](auto& sequences) {
    const auto found = std::find_if(sequences.begin(), sequences.end(), [id](const auto& s) { return s->id == id; });
    std::unique_ptr<Sequence> taken;
    if (found != sequences.end()) {
      taken = std::move(*found);
      sequences.erase(found);
    }
    return taken;
  };
  std::unique_ptr<Sequence> sequence = take(running_);
  if (sequence) {
    free_slots_.push_back(sequence->slot);
    return sequence;
  }
  return take(waiting_);
}

std::vector<std::unique_ptr<Sequence>> Scheduler::remove_all() {
  std::vector<std::unique_ptr<Sequence>> all;
  while (!running_.empty()) all.push_back(remove(running_.front()->id));
  while (!waiting_.empty()) all.push_back(remove(waiting_.front()->id));
  return all;
}

void Scheduler::plan(StepBatch& batch) {
  while (!waiting_.empty() && !free_slots_.empty()) {
    waiting_.front()->slot = free_slots_.back();
    free_slots_.pop_back();
    running_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }

  batch.chunks.clear();
  in_step_.clear();
  const auto n_left = [](const Sequence& sequence) {
    return static_cast<uint32_t>(sequence.tokens.size()) - sequence.n_cached;
  };
  for (const auto& sequence : running_) {
    if (sequence->n_generated() > 0) add_chunk(*sequence, n_left(*sequence), batch);
  }
  uint32_t budget = prompt_chunk_;
  for (const auto& sequence : running_) {
    if (budget == 0) break;
    if (sequence->n_generated() > 0) continue;
    const uint32_t n_tokens = std::min(budget, n_left(*sequence));
    add_chunk(*sequence, n_tokens, batch);
    budget -= n_tokens;
  }
}

void Scheduler::add_chunk(Sequence& sequence, uint32_t n_tokens, StepBatch& batch) {
  const bool reaches_end = sequence.n_cached + n_tokens == sequence.tokens.size();
  batch.chunks.push_back({sequence.slot, sequence.n_cached,
                          std::span(sequence.tokens).subspan(sequence.n_cached, n_tokens), reaches_end ? 1U : 0U});
  in_step_.push_back(&sequence);
}

}  // namespace qwick
