// Waits for signals. The constructor blocks them in this thread, and threads that start later
// inherit this. So construct it before any other thread starts; then only Wait() gets the signals.
//
//   StopSignals signals;
//   int signal = signals.Wait();
#pragma once

#include <csignal>
#include <initializer_list>

namespace tidemark::programs {

class StopSignals {
 public:
  // Blocks SIGINT, SIGTERM and SIGHUP, and ignores SIGPIPE: a write to a closed socket then returns
  // an error.
  StopSignals() {
    sigemptyset(&signals_);
    for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
  }

  // Waits for the next of these signals.
  int Wait() const {
    int signal = 0;
    sigwait(&signals_, &signal);
    return signal;
  }

 private:
  sigset_t signals_;
};

}  // namespace tidemark::programs
