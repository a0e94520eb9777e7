#include "apps/archive/coverage.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "apps/archive/attributes.h"

namespace tidemark::archive {

namespace {

// How long Slack retries an event that was not answered.
constexpr EpochSeconds kRedeliverySeconds = 300;

constexpr std::array kCoverageKinds = {CoverageKind::kBegan, CoverageKind::kEnded,
                                       CoverageKind::kLost, CoverageKind::kImported};

std::optional<CoverageKind> ParseKind(std::string_view text) {
  const auto* const found =
      std::ranges::find(kCoverageKinds, text, [](CoverageKind kind) { return ToString(kind); });
  return found == kCoverageKinds.end() ? std::nullopt : std::optional(*found);
}

// From the beginning to the end of one state.
struct Span {
  slack::Timestamp from;
  std::optional<slack::Timestamp> to;
  Certainty certainty = Certainty::kComplete;
  std::string reason = {};
};

// Adds a complete span from each beginning to the end that follows it.
void AddComplete(std::vector<CoverageNews> turns, std::vector<Span>* spans) {
  // When a beginning and an end have the same time, the end counts as later. So coverage is never
  // claimed where events may be missing.
  std::ranges::sort(turns, {}, [](const CoverageNews& turn) {
    return std::pair(turn.from, turn.kind == CoverageKind::kEnded);
  });
  std::optional<slack::Timestamp> began;
  for (const CoverageNews& turn : turns) {
    if (turn.kind == CoverageKind::kBegan) {
      if (!began) began = turn.from;
    } else if (began) {
      spans->push_back({.from = *began, .to = turn.from});
      began.reset();
    }
  }
  if (began) spans->push_back({.from = *began, .to = std::nullopt});
}

// Turns marks into spans. Beginnings and ends are marks of their own and have to be paired first.
std::vector<Span> SpansOf(const std::vector<CoverageNews>& marks) {
  std::vector<Span> spans;
  std::vector<CoverageNews> turns;
  for (const CoverageNews& mark : marks) {
    switch (mark.kind) {
      case CoverageKind::kBegan:
      case CoverageKind::kEnded:
        turns.push_back(mark);
        break;
      case CoverageKind::kLost:
        spans.push_back({mark.from, mark.to, Certainty::kLost, mark.reason});
        break;
      case CoverageKind::kImported:
        spans.push_back({mark.from, mark.to, Certainty::kImported});
        break;
    }
  }
  AddComplete(std::move(turns), &spans);
  std::erase_if(spans, [](const Span& span) { return span.to && *span.to <= span.from; });
  return spans;
}

// Walks over the beginnings and ends of all spans in the order of time, counts which spans are
// open, and starts a new interval wherever the strongest open span changes.
class Sweep {
 public:
  explicit Sweep(const std::vector<Span>& spans) {
    for (const Span& span : spans) {
      edges_.push_back({span.from, &span, true});
      if (span.to) edges_.push_back({*span.to, &span, false});
    }
    std::ranges::sort(edges_, {}, &Edge::at);
  }

  std::vector<Interval> Run() {
    for (size_t i = 0; i < edges_.size();) {
      const slack::Timestamp at = edges_[i].at;
      for (; i < edges_.size() && edges_[i].at == at; ++i) Pass(edges_[i]);
      TurnAt(at);
    }
    return std::move(intervals_);
  }

 private:
  struct Edge {
    slack::Timestamp at;
    const Span* span;
    bool begins;
  };

  void Pass(const Edge& edge) {
    const Span& span = *edge.span;
    if (span.certainty == Certainty::kLost) {
      if (edge.begins) {
        losses_.insert(span.reason);
      } else {
        losses_.erase(losses_.find(span.reason));
      }
      return;
    }
    int& count = span.certainty == Certainty::kComplete ? complete_ : imported_;
    count += edge.begins ? 1 : -1;
  }

  // Ends the open interval here, unless the same state goes on, and begins the next one.
  void TurnAt(const slack::Timestamp& at) {
    const auto next = Now(at);
    if (open_ && next && IsSameState(*next, intervals_.back())) return;
    if (open_) intervals_.back().to = at;
    open_ = next.has_value();
    if (next) intervals_.push_back(*next);
  }

  // The interval that begins here by the spans that are open; nullopt: nothing is known.
  std::optional<Interval> Now(const slack::Timestamp& from) const {
    if (!losses_.empty()) {
      return Interval{.from = from, .certainty = Certainty::kLost, .reason = *losses_.begin()};
    }
    if (complete_ > 0) return Interval{.from = from, .certainty = Certainty::kComplete};
    if (imported_ > 0) return Interval{.from = from, .certainty = Certainty::kImported};
    return std::nullopt;
  }

  static bool IsSameState(const Interval& left, const Interval& right) {
    return left.certainty == right.certainty && left.reason == right.reason;
  }

  std::vector<Edge> edges_;
  std::multiset<std::string> losses_;
  int complete_ = 0;
  int imported_ = 0;
  bool open_ = false;
  std::vector<Interval> intervals_;
};

Result<CoverageNews> Decode(const item::Item& row, std::optional<slack::ChannelId> channel) {
  const auto kind = ParseKind(TextIn(row, "kind"));
  const auto from = TimestampIn(row, "from");
  if (!kind || !from) {
    return NotA("a coverage mark", row);
  }
  return CoverageNews{.channel = std::move(channel),
                      .kind = *kind,
                      .from = *from,
                      .to = TimestampIn(row, "to"),
                      .reason = TextIn(row, "reason")};
}

}  // namespace

item::Item EncodeMark(const slack::TeamId& team, const CoverageNews& mark) {
  const std::string item_id =
      mark.channel ? CoverageOf({.team = team, .channel = *mark.channel}) : CoverageOf(team);
  RowBuilder row;
  row.Set("itemId", item_id);
  row.Set("timestamp", fmt::format("{}#{}", mark.from.text(), ToString(mark.kind)));
  row.Set("type", "coverage");
  row.Set("kind", std::string(ToString(mark.kind)));
  row.Set("from", mark.from.text());
  if (mark.to) row.Set("to", mark.to->text());
  row.SetText("reason", mark.reason);
  return row.Build();
}

std::vector<Interval> ComputeCoverage(const std::vector<CoverageNews>& marks) {
  const std::vector<Span> spans = SpansOf(marks);
  return Sweep(spans).Run();
}

Ledger::Ledger(std::string table, tables::Tables* tables) : table_(tables, std::move(table)) {}

// A put under the key of the mark: written twice it is still one mark.
Status Ledger::Add(const slack::TeamId& team, const CoverageNews& mark) {
  tables::PutRequest put{.table = table_.name(),
                         .item = EncodeMark(team, mark),
                         .condition = "attribute_not_exists(#k)",
                         .names = {{"#k", "itemId"}}};
  // A process may have written a shorter mark for the same downtime and died before it could
  // listen: the longer mark replaces it.
  if (mark.to) {
    *put.condition += " OR #to < :to";
    put.names["#to"] = "to";
    put.values[":to"] = mark.to->text();
  }
  TRY(table_.tables().Put(put));
  return Done{};
}

Result<std::vector<CoverageNews>> Ledger::Read(const std::string& item_id,
                                               const std::optional<slack::ChannelId>& channel) {
  std::vector<CoverageNews> marks;
  for (const item::Item& row : TRY(table_.ReadPartition(item_id))) {
    marks.push_back(TRY(Decode(row, channel)));
  }
  return marks;
}

Result<std::vector<CoverageNews>> Ledger::ChannelMarks(const Place& place) {
  return Read(CoverageOf(place), place.channel);
}

Result<std::vector<CoverageNews>> Ledger::TeamMarks(const slack::TeamId& team) {
  return Read(CoverageOf(team), std::nullopt);
}

Result<std::vector<CoverageNews>> Ledger::Marks(const Place& place) {
  std::vector<CoverageNews> marks;
  for (const Place& id : TRY(table_.IdsOf(place))) {
    std::ranges::move(TRY(ChannelMarks(id)), std::back_inserter(marks));
  }
  std::vector<CoverageNews> of_team = TRY(TeamMarks(place.team));
  std::ranges::move(of_team, std::back_inserter(marks));
  std::ranges::stable_sort(marks, {}, &CoverageNews::from);
  return marks;
}

Result<std::vector<Interval>> Ledger::Of(const Place& place) {
  return ComputeCoverage(TRY(Marks(place)));
}

std::optional<CoverageNews> LossByDowntime(EpochSeconds last_alive, EpochSeconds started) {
  const EpochSeconds to = started - kRedeliverySeconds;
  if (to <= last_alive) return std::nullopt;
  return CoverageNews{.kind = CoverageKind::kLost,
                      .from = slack::Timestamp::FromSeconds(last_alive),
                      .to = slack::Timestamp::FromSeconds(to),
                      .reason = "the server was not running"};
}

}  // namespace tidemark::archive
