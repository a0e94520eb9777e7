// Signals as something to wait for. They are blocked in every thread, so that the one that waits
// gets them; made before any other thread is started, which inherits that.
//
//   StopSignals signals;
//   int signal = signals.Wait();
#pragma once

#include <csignal>
#include <initializer_list>

namespace tidemark::programs {

class StopSignals {
 public:
  // Takes SIGINT, SIGTERM and SIGHUP. A write to a closed socket is an error of that socket and no
  // longer a signal.
  StopSignals() {
    sigemptyset(&signals_);
    for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
  }

  // The next of them.
  int Wait() const {
    int signal = 0;
    sigwait(&signals_, &signal);
    return signal;
  }

 private:
  sigset_t signals_;
};

}  // namespace tidemark::programs
