// Figures over rounds: what was measured several times, and how far it spread.
#pragma once

#include <vector>

#include "base/json.h"

namespace qwick {

// The smallest value that at least this share of the values does not exceed ("nearest rank"); 0 of none.
double percentile(std::vector<double> values, double share);
double mean(const std::vector<double>& values);

// {"median": m, "min": a, "max": b}, the median of an even number between the middle two; null of none.
Json spread(std::vector<double> of_rounds);

// Joins the figures of several rounds: a tree of objects of the same shape, whose numbers become spreads.
Json spread_of_rounds(const std::vector<Json>& rounds);

}  // namespace qwick
