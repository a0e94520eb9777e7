#include "programs/attempts/old_store.h"

#include <utility>

#include <fmt/format.h>

#include "apps/attempts/moving/redis/redis_store.h"
#include "redis/client.h"

namespace tidemark::programs {

Result<std::unique_ptr<moving::MigrationStore>> OpenOldAttempts(const Settings& settings,
                                                                const attempts::Policy& policy,
                                                                const Clock& clock) {
  const std::string& url = settings.Text("attempts.old.url");
  if (url.empty()) return std::unique_ptr<moving::MigrationStore>();
  TRY(redis::CheckAddress(url).WithContext("attempts.old.url"));
  const bool is_safe = redis::IsOnThisMachine(url) || redis::IsEncrypted(url);
  if (!is_safe && !settings.Bool("attempts.old.plainly")) {
    return Invalid(fmt::format(
        "attempts.old.url is {}, on another machine, and the connection is not encrypted: use "
        "rediss:// if the Redis has TLS, or set attempts.old.plainly = true in a network that you "
        "trust",
        url));
  }
  auto keys = TRY(moving::KeyMap::Make({.count = settings.Text("attempts.old.count-key"),
                                        .lock = settings.Text("attempts.old.lock-key"),
                                        .state = settings.Text("attempts.old.state-key"),
                                        .single = settings.Text("attempts.old.keys")},
                                       moving::KnownSortKeys(policy))
                      .WithContext("attempts.old"));
  redis::ClientOptions options{.address = url, .user = settings.Text("attempts.old.user")};
  options.password = TRY(settings.GetSecret("attempts.old.password"));
  options.authorities = settings.Text("attempts.old.ca");
  options.connect_timeout = options.reply_timeout = settings.Duration("attempts.old.timeout");
  return std::unique_ptr<moving::MigrationStore>(std::make_unique<moving::RedisStore>(
      std::move(keys), std::move(options), &clock,
      settings.Bool("attempts.old.accept-eviction") ? moving::Eviction::kAccepted
                                                    : moving::Eviction::kRefused));
}

}  // namespace tidemark::programs
