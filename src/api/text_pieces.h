// For tests of what reads text in pieces: the ways to cut a text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace qwick::api {

// Calls `check` with every way to cut a text of up to 15 bytes into pieces, and with 20,000 ways to cut
// a longer one, whole and byte by byte among them.
inline void for_each_cut(const std::string& text,
                         const std::function<void(const std::vector<std::string>&)>& check) {
  const size_t n_places = text.empty() ? 0 : text.size() - 1;
  const bool all = n_places <= 14;
  const uint64_t n_cuts = all ? uint64_t{1} << n_places : 20'000;
  std::mt19937_64 random(n_places);
  for (uint64_t i = 0; i < n_cuts; ++i) {
    // Bit i: cut after byte i. ANDs and ORs of random numbers give few cuts and many.
    uint64_t cut = i;
    if (!all && i > 1)
      cut = i % 3 == 0 ? random() & random() & random() : i % 3 == 1 ? random() : random() | random();
    if (!all && i == 1) cut = ~uint64_t{0};
    std::vector<std::string> pieces(1);
    for (size_t place = 0; place < text.size(); ++place) {
      pieces.back() += text[place];
      if (place + 1 < text.size() && ((cut >> place) & 1) != 0) pieces.emplace_back();
    }
    check(pieces);
  }
}

}  // namespace qwick::api
