#include "apps/documents/pause.h"

#include <condition_variable>
#include <mutex>

namespace tidemark::documents {

bool SystemPauser::Pause(std::chrono::nanoseconds length, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, length, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace tidemark::documents
