#include "tests/concurrency/list_checker.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tidemark::testing {
namespace {

struct Edge {
  size_t to;
  std::string_view kind;
};

struct Cycle {
  std::vector<size_t> nodes;
  std::vector<std::string_view> kinds;  // kinds[i] leads from nodes[i] to the next.
};

// The dependencies between transactions, each named by its place in the history.
class Graph {
 public:
  explicit Graph(size_t size) : edges_(size) {}

  void Add(size_t from, size_t to, std::string_view kind) {
    if (from != to) edges_[from].push_back({to, kind});
  }

  // A shortest cycle through the first node that has one.
  std::optional<Cycle> FindCycle() const {
    const std::vector<bool> suspects = NodesOnOrAfterCycles();
    for (size_t node = 0; node < edges_.size(); ++node) {
      if (!suspects[node]) continue;
      if (std::optional<Cycle> cycle = ShortestThrough(node)) return cycle;
    }
    return std::nullopt;
  }

 private:
  // Repeatedly removes nodes without incoming edges. Only nodes on a cycle or after one are left.
  std::vector<bool> NodesOnOrAfterCycles() const {
    std::vector<size_t> incoming(edges_.size());
    for (const auto& edges : edges_) {
      for (const Edge& edge : edges) ++incoming[edge.to];
    }
    std::vector<bool> stays(edges_.size(), true);
    std::deque<size_t> free;
    for (size_t node = 0; node < edges_.size(); ++node) {
      if (incoming[node] == 0) free.push_back(node);
    }
    for (; !free.empty(); free.pop_front()) {
      stays[free.front()] = false;
      for (const Edge& edge : edges_[free.front()]) {
        if (--incoming[edge.to] == 0) free.push_back(edge.to);
      }
    }
    return stays;
  }

  // Breadth first from the node until an edge leads back to it.
  std::optional<Cycle> ShortestThrough(size_t start) const {
    struct Step {
      size_t from;
      std::string_view kind;
    };
    std::map<size_t, Step> reached;
    std::deque<size_t> queue = {start};
    for (; !queue.empty() && !reached.contains(start); queue.pop_front()) {
      for (const Edge& edge : edges_[queue.front()]) {
        if (reached.try_emplace(edge.to, Step{queue.front(), edge.kind}).second) {
          queue.push_back(edge.to);
        }
      }
    }
    if (!reached.contains(start)) return std::nullopt;
    Cycle cycle;
    size_t node = start;
    do {
      const Step& step = reached.at(node);
      cycle.nodes.insert(cycle.nodes.begin(), step.from);
      cycle.kinds.insert(cycle.kinds.begin(), step.kind);
      node = step.from;
    } while (node != start);
    return cycle;
  }

  std::vector<std::vector<Edge>> edges_;
};

std::string Describe(const Transaction& transaction) {
  const bool open = transaction.outcome == Outcome::kUnknown;
  std::string text = fmt::format("client {} [{}, {}]", transaction.client, transaction.called,
                                 open ? "open" : std::to_string(transaction.returned));
  for (const Append& append : transaction.appends) {
    text += fmt::format(" append {} to {}", append.element, append.key);
  }
  for (const LengthCheck& check : transaction.checks) {
    text += fmt::format(" check that {} has {}", check.key, check.length);
  }
  for (const ListRead& read : transaction.reads) {
    text += fmt::format(" read {} = [{}]", read.key, fmt::join(read.elements, " "));
  }
  return text;
}

class Checker {
 public:
  explicit Checker(const std::vector<Transaction>& transactions)
      : transactions_(transactions), seen_(transactions.size()), graph_(transactions.size()) {}

  ListVerdict Check() {
    if (!FindOrders() || !CheckOrders() || !AddDependencies()) return {false, problem_};
    AddTimeDependencies();
    const std::optional<Cycle> cycle = graph_.FindCycle();
    if (!cycle) return {};
    std::string text = "no order of these transactions is possible:\n";
    for (size_t i = 0; i < cycle->nodes.size(); ++i) {
      text += fmt::format("  {}\n    {} before\n", Describe(transactions_[cycle->nodes[i]]),
                          cycle->kinds[i]);
    }
    return {false, text + "  the first again\n"};
  }

 private:
  bool Fail(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  // The longest read of a list gives its order. All other reads must be prefixes of it.
  bool FindOrders() {
    for (const Transaction& transaction : transactions_) {
      for (const ListRead& read : transaction.reads) {
        std::vector<int64_t>& order = orders_[read.key];
        const std::vector<int64_t>& longer =
            read.elements.size() > order.size() ? read.elements : order;
        const std::vector<int64_t>& shorter = &longer == &order ? read.elements : order;
        if (!std::equal(shorter.begin(), shorter.end(), longer.begin())) {
          return Fail(fmt::format("list {} was read in two orders: [{}] and [{}]", read.key,
                                  fmt::join(order, " "), fmt::join(read.elements, " ")));
        }
        if (&longer != &order) order = read.elements;
      }
    }
    return true;
  }

  // Every element must have been appended to that list exactly once, by a transaction that may have
  // happened.
  bool CheckOrders() {
    for (size_t i = 0; i < transactions_.size(); ++i) {
      if (transactions_[i].outcome == Outcome::kNotApplied) continue;
      for (const Append& append : transactions_[i].appends) {
        appenders_[append.key][append.element] = i;
        const std::vector<int64_t>& order = orders_[append.key];
        seen_[i] = seen_[i] || std::find(order.begin(), order.end(), append.element) != order.end();
      }
    }
    for (const auto& [key, order] : orders_) {
      std::set<int64_t> elements(order.begin(), order.end());
      if (elements.size() < order.size()) {
        return Fail(fmt::format("list {} has an element twice: [{}]", key, fmt::join(order, " ")));
      }
      for (int64_t element : order) {
        if (appenders_[key].contains(element)) continue;
        return Fail(
            fmt::format("list {} has {}, which no applied transaction appended", key, element));
      }
    }
    return true;
  }

  bool AddDependencies() {
    for (const auto& [key, order] : orders_) {
      for (size_t i = 0; i + 1 < order.size(); ++i) {
        graph_.Add(Appender(key, order[i]), Appender(key, order[i + 1]), "ww");
      }
    }
    for (size_t i = 0; i < transactions_.size(); ++i) {
      if (transactions_[i].outcome != Outcome::kApplied) continue;
      for (const ListRead& read : transactions_[i].reads)
        AddRead(i, read.key, read.elements.size());
      for (const LengthCheck& check : transactions_[i].checks) {
        if (check.length > orders_[check.key].size()) {
          return Fail(fmt::format("a length that list {} never had: {}", check.key,
                                  Describe(transactions_[i])));
        }
        AddRead(i, check.key, check.length);
      }
    }
    return true;
  }

  // The transaction saw the first `length` elements of the list and no other.
  void AddRead(size_t reader, const std::string& key, size_t length) {
    const std::vector<int64_t>& order = orders_[key];
    if (length > 0) graph_.Add(Appender(key, order[length - 1]), reader, "wr");
    if (length < order.size()) graph_.Add(reader, Appender(key, order[length]), "rw");
    // An append that happened but was never read must come after all reads.
    for (const auto& [element, appender] : appenders_[key]) {
      if (!Happened(appender)) continue;
      const bool seen = std::find(order.begin(), order.end(), element) != order.end();
      if (!seen) graph_.Add(reader, appender, "rw");
    }
  }

  void AddTimeDependencies() {
    for (size_t i = 0; i < transactions_.size(); ++i) {
      if (transactions_[i].outcome != Outcome::kApplied) continue;
      for (size_t j = 0; j < transactions_.size(); ++j) {
        const bool counts = transactions_[j].outcome != Outcome::kNotApplied;
        if (counts && transactions_[i].returned < transactions_[j].called) graph_.Add(i, j, "rt");
      }
    }
  }

  // An unknown transaction happened when any part of it was seen, and then as a whole.
  bool Happened(size_t i) const {
    return transactions_[i].outcome == Outcome::kApplied || seen_[i];
  }

  size_t Appender(const std::string& key, int64_t element) { return appenders_[key].at(element); }

  const std::vector<Transaction>& transactions_;
  std::map<std::string, std::vector<int64_t>> orders_;
  std::map<std::string, std::map<int64_t, size_t>> appenders_;
  std::vector<bool> seen_;  // Whether any element the transaction appended was read.
  Graph graph_;
  std::string problem_;
};

}  // namespace

ListVerdict CheckLists(const std::vector<Transaction>& transactions) {
  return Checker(transactions).Check();
}

}  // namespace tidemark::testing
