#include "servers/demo/phrases.h"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace tidemark::demo {
namespace {

constexpr std::array<std::string_view, 24> kFirstNames = {
    "Amira",   "Bastian", "Chiara", "Dmitri", "Eilidh", "Farid",   "Greta",   "Hiroshi",
    "Ingrid",  "Jonas",   "Keiko",  "Liam",   "Maren",  "Nadia",   "Olu",     "Priya",
    "Quentin", "Rosa",    "Søren",  "Tomás",  "Ülkü",   "Violeta", "Wanjiru", "Yosef"};
constexpr std::array<std::string_view, 24> kHandles = {
    "amira",   "bastian", "chiara", "dmitri", "eilidh", "farid",   "greta",   "hiroshi",
    "ingrid",  "jonas",   "keiko",  "liam",   "maren",  "nadia",   "olu",     "priya",
    "quentin", "rosa",    "soren",  "tomas",  "ulku",   "violeta", "wanjiru", "yosef"};
constexpr std::array<std::string_view, 11> kLastNames = {
    "Haddad", "Brandt", "Moretti", "Okafor",     "Lindqvist", "Sato",
    "Carver", "Reyes",  "Novak",   "Achterberg", "Kimura"};
constexpr std::array<std::string_view, 11> kLastHandles = {
    "haddad", "brandt", "moretti", "okafor",     "lindqvist", "sato",
    "carver", "reyes",  "novak",   "achterberg", "kimura"};

constexpr std::array<std::string_view, 12> kTitles = {
    "Harbour pilot",  "Crane operator",   "Berth planner",   "Tug master",
    "Customs clerk",  "Yard foreman",     "Marine engineer", "Dispatcher",
    "Safety officer", "Harbour accounts", "Lock keeper",     "Duty captain"};
constexpr std::array<std::string_view, 6> kTimeZones = {"Europe/Amsterdam", "Europe/Lisbon",
                                                        "Africa/Nairobi",   "Asia/Tokyo",
                                                        "America/Halifax",  "Asia/Jerusalem"};

constexpr std::array<std::string_view, 40> kChannels = {
    "general",   "berth-planning",  "arrivals",       "pilots",        "cranes",
    "tugs",      "weather",         "customs",        "yard",          "random",
    "gate-west", "gate-east",       "reefer-plugs",   "dredging",      "night-shift",
    "canteen",   "safety",          "maintenance",    "billing",       "it-help",
    "incidents", "radio-log",       "lock-south",     "rail-terminal", "bunkering",
    "stowage",   "dangerous-goods", "training",       "announcements", "harbour-office",
    "hiring",    "football",        "lost-and-found", "photos",        "music",
    "suppliers", "insurance",       "legal",          "board",         "港湾-日本"};
// Beyond the list above, every vessel, berth and project has its own.
constexpr std::array<std::string_view, 6> kChannelSeries = {"vessel", "berth", "project",
                                                            "crane",  "claim", "survey"};

constexpr std::array<std::string_view, 10> kVessels = {
    "Marguerite D", "Nordkapp",   "Estrela do Mar", "Wilhelmina", "Akebono Maru",
    "Polar Tern",   "Lady Cairn", "São Jorge",      "Bahri Star", "Otter"};
constexpr std::array<std::string_view, 8> kEmoji = {"anchor", "ship", "wave", "white_check_mark",
                                                    "coffee", "eyes", "tada", "construction"};
constexpr std::array<std::string_view, 9> kReactions = {"+1",
                                                        "anchor",
                                                        "eyes",
                                                        "white_check_mark",
                                                        "joy",
                                                        "heart",
                                                        "wave::skin-tone-4",
                                                        "pray::skin-tone-3",
                                                        "tide_high"};
// Escaped, as Slack stores them.
constexpr std::array<std::string_view, 8> kTopics = {
    "Wind 6 Bft from the west, pilots on stand-by",
    "Next spring tide on Thursday 04:12",
    "Berth 4 is closed for dredging until further notice",
    "On duty this week: ask before you move a barge",
    "Read the pinned checklist first &amp; then ask",
    "今週の当番: 木村",
    "ההודעות כאן הן לצוות הלילה בלבד",
    "Gate west: queue &lt; 20 minutes"};
constexpr std::array<StatusLine, 6> kStatuses = {{{":anchor:", "On board"},
                                                  {":palm_tree:", "Away until Monday"},
                                                  {":spiral_calendar_pad:", "In the berth meeting"},
                                                  {":face_with_thermometer:", "Ill"},
                                                  {":night_with_stars:", "Night shift"},
                                                  {"", ""}}};
constexpr std::array<FileTemplate, 8> kFiles = {{{"stowage-plan", "pdf", "application/pdf"},
                                                 {"crane-log", "csv", "text/csv"},
                                                 {"quay-photo", "jpg", "image/jpeg"},
                                                 {"berth-sketch", "png", "image/png"},
                                                 {"tide-table", "txt", "text/plain"},
                                                 {"manifest", "json", "application/json"},
                                                 {"潮汐表", "pdf", "application/pdf"},
                                                 {"radio call", "mp3", "audio/mpeg"}}};

// {vessel}, {berth}, {hour}, {count}, {user}, {link} and {emoji} are filled in.
constexpr std::array<std::string_view, 34> kSentences = {
    "{vessel} is alongside at berth {berth}, lines fast at {hour}.",
    "Can somebody move the two empty barges away from berth {berth}?",
    "Pilot for {vessel} is ordered for {hour}.",
    "We are {count} reefers short of plugs on row {berth}.",
    "Crane {berth} is back after the hoist brake was changed {emoji}",
    "Wind at the mole is gusting, hold the high lifts on {berth} and {count}.",
    "The agent of {vessel} asks for a later slot, {hour} would suit them.",
    "Customs has released {count} of the containers, the rest wait for the scanner.",
    "Fog again. Visibility under {count}0 m at the outer buoy.",
    "Thanks, got it {emoji}",
    "On my way.",
    "ok",
    "Lock opens at {hour}, three barges first and then {vessel}.",
    "Who has the key of the tool store at berth {berth}?",
    "The draught survey of {vessel} differs by {count} cm fore & aft, please measure again.",
    "I booked the dredger for the night from {hour} on.",
    "Soup in the canteen is leek today {emoji}",
    "Truck queue at the west gate is < {count} minutes now.",
    "The lashing crew starts at {hour} with bay {berth}.",
    "If water > {count}0 cm above datum, the low quay is closed.",
    "Please nobody park in front of the hydrant at berth {berth}.",
    "Bunkers for {vessel}: {count} t delivered, note signed.",
    "Radio channel {berth} crackles, I will look at the antenna after lunch.",
    "The seal count of bay {count} is right, I counted twice.",
    "{vessel} に{count}個のコンテナを積みました。{hour}に出港予定です。",
    "明日の朝は霧が濃いので、{berth}番バースの作業は遅れます。",
    "{berth}号泊位的吊机已经修好了，可以继续作业。",
    "السفينة {vessel} وصلت إلى الرصيف {berth} الساعة {hour}.",
    "המנוף ברציף {berth} מושבת עד {hour}, נא לא להתקרב.",
    "{vessel} 선석 {berth} 접안 완료했습니다 {emoji}",
    "Der Schlepper wartet seit {hour} vor der Schleuse.",
    "El práctico de {vessel} llega a las {hour}.",
    "The apprentices did the whole mooring alone today 👩🏽‍🔧👨‍👩‍👧 well done",
    "Tide gauge reads {count}2 cm, {count} less than the table."};
constexpr std::array<std::string_view, 5> kMentions = {
    "{user} can you take this one?", "{user} please call the agent of {vessel} before {hour}.",
    "Ask {user}, the drawings are there.", "{user} {emoji}",
    "Thank you {user} for the help at berth {berth}!"};
constexpr std::array<std::string_view, 5> kLinks = {
    "Forecast for tonight: {link}", "The berth plan is here {link}, valid from {hour}.",
    "{link} has the new rules for dangerous goods.", "Position of {vessel}: {link}",
    "Photos of the damage on crane {berth}: {link}"};
constexpr std::array<std::string_view, 4> kPages = {"forecast", "plan", "rules", "vessels"};

template <typename T, size_t kSize>
const T& Pick(const std::array<T, kSize>& values, Random& random) {
  return values[random.Below(kSize)];
}

void AppendText(std::string_view text, std::vector<Span>* spans) {
  if (text.empty()) return;
  if (spans->empty() || spans->back().kind != SpanKind::kText) spans->push_back({});
  spans->back().text += text;
}

// What stands in place of a {name}.
Span Fill(std::string_view name, std::string_view mentioned, Random& random) {
  if (name == "vessel") return {SpanKind::kText, std::string(Pick(kVessels, random))};
  if (name == "hour") {
    const uint64_t minutes = random.Below(24 * 12) * 5;
    return {SpanKind::kText, fmt::format("{:02}:{:02}", minutes / 60, minutes % 60)};
  }
  if (name == "user") return {SpanKind::kUser, std::string(mentioned)};
  if (name == "emoji") return {SpanKind::kEmoji, std::string(Pick(kEmoji, random))};
  if (name == "link") {
    return {SpanKind::kLink, fmt::format("https://harbour.example/{}/{}?q=a&lang=en",
                                         Pick(kPages, random), random.Below(10'000))};
  }
  return {SpanKind::kText, std::to_string(1 + random.Below(30))};
}

void AppendFilled(std::string_view pattern, std::string_view mentioned, Random& random,
                  std::vector<Span>* spans) {
  if (!spans->empty()) AppendText(" ", spans);
  while (true) {
    const size_t open = pattern.find('{');
    AppendText(pattern.substr(0, open), spans);
    if (open == std::string_view::npos) return;
    const size_t close = pattern.find('}', open);
    Span span = Fill(pattern.substr(open + 1, close - open - 1), mentioned, random);
    if (span.kind == SpanKind::kText) {
      AppendText(span.text, spans);
    } else {
      spans->push_back(std::move(span));
    }
    pattern.remove_prefix(close + 1);
  }
}

// Six in ten are one sentence; one in a hundred is a report of pages.
size_t PickSentenceCount(Random& random) {
  const uint64_t draw = random.Below(1000);
  if (draw < 600) return 1;
  if (draw < 880) return 2 + random.Below(2);
  if (draw < 988) return 4 + random.Below(8);
  return 20 + random.Below(40);
}

void AppendEscaped(std::string_view text, std::string* out) {
  for (const char c : text) {
    switch (c) {
      case '&':
        *out += "&amp;";
        break;
      case '<':
        *out += "&lt;";
        break;
      case '>':
        *out += "&gt;";
        break;
      default:
        *out += c;
    }
  }
}

}  // namespace

std::vector<Span> ComposeMessage(std::string_view mentioned, Random& random) {
  std::vector<Span> spans;
  const size_t sentences = PickSentenceCount(random);
  for (size_t i = 0; i < sentences; ++i) {
    AppendFilled(Pick(kSentences, random), mentioned, random, &spans);
  }
  // About one message in twelve has a link: each of them is edited by its preview.
  const uint64_t draw = random.Below(100);
  if (draw < 12) AppendFilled(Pick(kMentions, random), mentioned, random, &spans);
  if (draw >= 92) AppendFilled(Pick(kLinks, random), mentioned, random, &spans);
  return spans;
}

std::vector<Span> ComposeSentence(Random& random) {
  std::vector<Span> spans;
  AppendFilled(Pick(kSentences, random), {}, random, &spans);
  return spans;
}

std::vector<Span> Correct(std::vector<Span> spans, Random& random) {
  AppendFilled(Pick(std::array<std::string_view, 4>{"(edit: berth {berth}, not {count})", "Done.",
                                                    "Correction: {hour}.", "{emoji}"},
                    random),
               {}, random, &spans);
  return spans;
}

std::string TextOf(const std::vector<Span>& spans) {
  std::string text;
  for (const Span& span : spans) {
    switch (span.kind) {
      case SpanKind::kText:
        AppendEscaped(span.text, &text);
        break;
      case SpanKind::kUser:
        text += fmt::format("<@{}>", span.text);
        break;
      case SpanKind::kEmoji:
        text += fmt::format(":{}:", span.text);
        break;
      case SpanKind::kLink:
        text += '<';
        AppendEscaped(span.text, &text);
        text += '>';
        break;
    }
  }
  return text;
}

bool HasLink(const std::vector<Span>& spans) {
  for (const Span& span : spans) {
    if (span.kind == SpanKind::kLink) return true;
  }
  return false;
}

PersonName NameOfPerson(size_t number) {
  // The lengths of the lists have no common divisor, so a pair repeats only after 264 pairs.
  const size_t first = number % kFirstNames.size();
  const size_t last = number % kLastNames.size();
  const size_t round = number / (kFirstNames.size() * kLastNames.size());
  const std::string suffix = round == 0 ? "" : std::to_string(round + 1);
  return {.handle = fmt::format("{}.{}{}", kHandles[first], kLastHandles[last], suffix),
          .real_name = fmt::format("{} {}", kFirstNames[first], kLastNames[last])};
}

std::string NameOfChannel(size_t number) {
  if (number < kChannels.size()) return std::string(kChannels[number]);
  const size_t beyond = number - kChannels.size();
  return fmt::format("{}-{}", kChannelSeries[beyond % kChannelSeries.size()],
                     beyond / kChannelSeries.size() + 1);
}

std::string_view PickTitle(Random& random) { return Pick(kTitles, random); }
std::string_view PickTimeZone(Random& random) { return Pick(kTimeZones, random); }
std::string_view PickReaction(Random& random) { return Pick(kReactions, random); }
std::string_view PickTopic(Random& random) { return Pick(kTopics, random); }
StatusLine PickStatus(Random& random) { return Pick(kStatuses, random); }
FileTemplate PickFile(Random& random) { return Pick(kFiles, random); }

}  // namespace tidemark::demo
