// The variables of one scope while a template is compiled, by the rules of Jinja's own compiler. Used by
// the resolver only.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "text/jinja/ast.h"

namespace qwick::jinja {

// One function under compilation: its places, and the function around it.
struct FunctionBuilder {
  // Names of one nesting level share a place, as they share a Python variable in Jinja.
  int slot(const std::string& key) {
    const auto [it, added] = slots.emplace(key, static_cast<int>(slots.size()));
    return it->second;
  }
  int count() const { return static_cast<int>(slots.size()); }

  int depth = 0;
  std::map<std::string, int> slots;
};

struct Ref {
  const FunctionBuilder* function = nullptr;
  int slot = -1;
};

using LoadFrom = Scope::Load::From;

class Symbols {
 public:
  Symbols(const Symbols* parent, FunctionBuilder& function, std::string tag = {})
      : parent_(parent),
        function_(&function),
        level_(parent == nullptr ? 0 : parent->level_ + 1),
        tag_(std::move(tag)) {}

  const Ref* find(const std::string& name) const {
    if (const auto it = refs_.find(name); it != refs_.end()) return &it->second;
    return parent_ == nullptr ? nullptr : parent_->find(name);
  }

  int declare_parameter(const std::string& name) {
    stores_.insert(name);
    return define(name, {LoadFrom::kParameter, {}, {}});
  }

  void load(const std::string& name) {
    if (find(name) == nullptr) define(name, {LoadFrom::kContext, name, {}});
  }

  void store(const std::string& name) {
    stores_.insert(name);
    if (refs_.contains(name)) return;
    const Ref* outer = parent_ == nullptr ? nullptr : parent_->find(name);
    if (outer != nullptr) {
      define(name, {LoadFrom::kOuter, {}, *outer});
    } else {
      define(name, {LoadFrom::kNothing, {}, {}});
    }
  }

  // After an if: a name that only some branches set has its value from outside in the others.
  void merge(const std::vector<Symbols>& branches) {
    std::set<std::string> stored;
    for (const Symbols& branch : branches) stored.insert(branch.stores_.begin(), branch.stores_.end());
    for (const std::string& name : stores_) stored.erase(name);
    for (const Symbols& branch : branches) {
      for (const auto& [name, ref] : branch.refs_) refs_[name] = ref;
      for (const auto& [slot, source] : branch.loads_) loads_[slot] = source;
      stores_.insert(branch.stores_.begin(), branch.stores_.end());
    }
    for (const std::string& name : stored) {
      const Ref* outer = parent_ == nullptr ? nullptr : parent_->find(name);
      const int slot = find(name)->slot;
      loads_[slot] =
          outer != nullptr ? Source{LoadFrom::kOuter, {}, *outer} : Source{LoadFrom::kContext, name, {}};
    }
  }

  Slot place(const Ref& ref) const { return {function_->depth - ref.function->depth, ref.slot}; }

  Scope scope() const {
    Scope scope;
    for (const auto& [slot, source] : loads_) {
      Scope::Load load;
      load.slot = slot;
      load.from = source.from;
      load.name = source.name;
      if (source.from == LoadFrom::kOuter) load.outer = place(source.outer);
      scope.loads.push_back(std::move(load));
    }
    return scope;
  }

 private:
  struct Source {
    LoadFrom from;
    std::string name;
    Ref outer;
  };

  int define(const std::string& name, Source source) {
    const int slot = function_->slot(tag_ + std::to_string(level_) + "." + name);
    refs_[name] = {function_, slot};
    loads_[slot] = std::move(source);
    return slot;
  }

  const Symbols* parent_;
  FunctionBuilder* function_;
  int level_;
  std::string tag_;
  std::map<std::string, Ref> refs_;
  std::map<int, Source> loads_;
  std::set<std::string> stores_;
};

}  // namespace qwick::jinja
