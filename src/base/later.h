// Later<T> is an answer that is already there or comes later: a Result<T> without a thread that
// waits for it. Promise<T> is the other end, which the producer of the answer holds.
//
//   Later<Row> Load(Key key) {                            // The producer.
//     TRY(Check(key));                                    // An Error is an answer too.
//     auto [promise, later] = MakeLater<Row>(deadline);
//     queue.push_back({key, std::move(promise)});         // Some thread calls promise.Fulfil(...).
//     return std::move(later);
//   }
//
//   Later<Response> response = Load(key).Then([](Result<Row> row) { return Show(row); });
//   Result<Response> result = response.Wait();            // Only on a thread that may block.
//
// Every promise is answered exactly once. Calling Fulfil twice is a bug and stops the program. A
// promise that is destroyed without an answer answers kUnknown, so that no consumer waits for ever.
//
// A callback that is given to Then runs exactly once: at once, on the calling thread, when the
// answer is there already; otherwise on the thread that calls Fulfil. So it must not block. What it
// captured is destroyed before the next in the chain gets its result. When it throws, its result is
// kInternal with the exception's text.
//
// A deadline tells the producer when the answer is no longer needed. Wait ends at the deadline.
// Cancel tells the producer the same at any time. Both pass through Then to the producer that is
// working now. Neither removes the answer: a callback still gets what the producer answers.
//
// Promise and Later are moved, not copied. Two threads may use the two ends at the same time.
// Cancel may also be called while another thread is in Wait. After Fulfil has returned, the
// producer must not use objects of the consumer, because the consumer may have destroyed them.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/deadline.h"
#include "base/result.h"

namespace tidemark {

template <typename T>
class Later;
template <typename T>
class Promise;
template <typename T>
struct PromiseAndLater;

// Makes the two ends of an answer that comes later.
template <typename T>
PromiseAndLater<T> MakeLater(std::optional<Deadline> deadline = std::nullopt);

// How a Later is built. Nothing outside of this file uses this namespace.
namespace later_detail {

// The part of a state that does not depend on the type of the answer. A state refers to the state
// that it waits for (`upstream`), and that one refers back to it as the next in the chain. When the
// answer comes, both drop these references. The answer always comes, so the cycle is always
// released.
class StateBase {
 public:
  explicit StateBase(std::optional<Deadline> deadline) : deadline_(deadline) {}
  virtual ~StateBase() = default;
  StateBase(const StateBase&) = delete;
  StateBase& operator=(const StateBase&) = delete;

  // From now on a Cancel is passed on to `upstream`.
  void Follow(std::shared_ptr<StateBase> upstream);
  void Cancel();
  void OnCancel(std::function<void()> wake);

  bool answered() const;
  bool cancelled() const;
  const std::optional<Deadline>& deadline() const { return deadline_; }

 protected:
  // Both are called once, under the lock. They return the dropped reference, so that the caller
  // destroys it without the lock.
  [[nodiscard]] std::shared_ptr<StateBase> MarkAnswered();
  void MarkAttached();

  mutable std::mutex mutex_;
  bool answered_ = false;

 private:
  const std::optional<Deadline> deadline_;
  bool attached_ = false;
  bool cancelled_ = false;
  std::shared_ptr<StateBase> upstream_;
  std::function<void()> on_cancel_;
};

template <typename T>
class Receiver {
 public:
  virtual ~Receiver() = default;
  virtual void Receive(Result<T> answer) = 0;
};

// What a Promise and its Later share.
template <typename T>
class State : public StateBase, public Receiver<T> {
 public:
  using StateBase::StateBase;

  void Receive(Result<T> answer) override {
    std::shared_ptr<Receiver<T>> next;
    std::shared_ptr<StateBase> upstream;
    {
      const std::lock_guard lock(mutex_);
      upstream = MarkAnswered();
      next = std::move(next_);
      if (next == nullptr) answer_.emplace(std::move(answer));
    }
    if (next != nullptr) next->Receive(std::move(answer));
  }

  // Gives the answer to `next`, now or when it comes.
  void Attach(std::shared_ptr<Receiver<T>> next) {
    {
      const std::lock_guard lock(mutex_);
      MarkAttached();
      if (!answered_) next_ = std::move(next);
    }
    if (next != nullptr) next->Receive(*std::move(answer_));
  }

 private:
  std::optional<Result<T>> answer_;  // Until a receiver is attached.
  std::shared_ptr<Receiver<T>> next_;
};

// What a callback's return type means for the chain.
template <typename R>
struct Returned {
  using Value = R;
  static constexpr bool kIsLater = false;
};
template <typename U>
struct Returned<Result<U>> {
  using Value = U;
  static constexpr bool kIsLater = false;
};
template <typename U>
struct Returned<Later<U>> {
  using Value = U;
  static constexpr bool kIsLater = true;
};

// The Later that a function with this return type has as its answer.
template <typename R>
using AsLater = Later<typename Returned<R>::Value>;

// The error for the exception that is being handled.
Error CaughtError();

// Calls a step of a chain once and destroys it. `R` is Result<U> or Later<U>.
template <typename R, typename F, typename T>
R CallOnce(std::optional<F>* step, Result<T> answer) {
  R result = [&]() -> R {
    try {
      return (**step)(std::move(answer));
    } catch (...) {
      return CaughtError();
    }
  }();
  step->reset();
  return result;
}

// The state behind Then: it receives a T, calls the step, and answers with a U.
template <typename T, typename U, typename F>
class Chained final : public State<U>, public std::enable_shared_from_this<Chained<T, U, F>> {
 public:
  Chained(F step, const std::optional<Deadline>& deadline)
      : State<U>(deadline), step_(std::move(step)) {}

  // Shares the ownership of this.
  std::shared_ptr<Receiver<T>> receiver() { return {this->shared_from_this(), &receiver_}; }

 private:
  // A member, since State<U> is a receiver itself and T may be U.
  class StepReceiver final : public Receiver<T> {
   public:
    explicit StepReceiver(Chained* owner) : owner_(*owner) {}
    void Receive(Result<T> answer) override { owner_.Step(std::move(answer)); }

   private:
    Chained& owner_;
  };

  void Step(Result<T> answer) {
    using R = std::invoke_result_t<F&, Result<T>>;
    if constexpr (Returned<R>::kIsLater) {
      Later<U> inner = CallOnce<Later<U>>(&step_, std::move(answer));
      std::move(inner).Feed(this->shared_from_this());
    } else {
      State<U>::Receive(CallOnce<Result<U>>(&step_, std::move(answer)));
    }
  }

  std::optional<F> step_;
  StepReceiver receiver_{this};
};

// The end of a chain: a callback that returns nothing.
template <typename T, typename F>
class Last final : public Receiver<T> {
 public:
  explicit Last(F step) : step_(std::move(step)) {}
  void Receive(Result<T> answer) noexcept override {
    (*step_)(std::move(answer));
    step_.reset();
  }

 private:
  std::optional<F> step_;
};

// A thread waits for an answer with this.
class Signal {
 public:
  void Set();
  // False when the deadline passed first.
  bool Wait(const std::optional<Deadline>& deadline);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_set_ = false;
};

template <typename T>
class Waiter final : public Receiver<T> {
 public:
  void Receive(Result<T> answer) override {
    answer_.emplace(std::move(answer));
    answered_.Set();
  }
  // nullopt when the deadline passed first; the answer may come at any time then.
  std::optional<Result<T>> Wait(const std::optional<Deadline>& deadline) {
    if (!answered_.Wait(deadline)) return std::nullopt;
    return std::move(answer_);
  }

 private:
  std::optional<Result<T>> answer_;
  Signal answered_;
};

}  // namespace later_detail

// The producer's end.
template <typename T>
class Promise {
 public:
  Promise(Promise&&) noexcept = default;
  Promise& operator=(Promise&& other) noexcept {
    Promise(std::move(other)).state_.swap(state_);
    return *this;
  }
  // Answers kUnknown when nothing was answered: the work may or may not have been done.
  ~Promise() {
    if (state_ == nullptr || state_->answered()) return;
    Fulfil(Error{ErrorCode::kUnknown, "the work ended without an answer"});
  }

  // Runs the attached callbacks on this thread before it returns. Must be called exactly once.
  void Fulfil(Result<T> answer) { state_->Receive(std::move(answer)); }

  // After this moment the answer is not needed any more; nullopt: there is no deadline.
  const std::optional<Deadline>& deadline() const { return state_->deadline(); }
  // Whether the consumer cancelled. The producer must still answer.
  bool cancelled() const { return state_->cancelled(); }
  // Calls `wake` when the consumer cancels, or now if it already has; never after Fulfil has begun.
  // It runs on the consumer's thread: it may wake the producer's thread, but must not call Fulfil
  // itself.
  void OnCancel(std::function<void()> wake) { state_->OnCancel(std::move(wake)); }

 private:
  friend PromiseAndLater<T> MakeLater<T>(std::optional<Deadline> deadline);

  explicit Promise(std::shared_ptr<later_detail::State<T>> state) : state_(std::move(state)) {}

  std::shared_ptr<later_detail::State<T>> state_;
};

// The consumer's end.
template <typename T>
class [[nodiscard]] Later {
 public:
  using value_type = T;

  // An answer that is there already; costs no allocation.
  Later(Result<T> answer) : ready_(std::move(answer)) {}       // NOLINT: implicit
  Later(Error error) : ready_(Result<T>(std::move(error))) {}  // NOLINT: implicit
  template <typename U>
  requires(std::is_convertible_v<U&&, T> && !std::is_same_v<std::remove_cvref_t<U>, Error> &&
           !std::is_same_v<std::remove_cvref_t<U>, Result<T>> &&
           !std::is_same_v<std::remove_cvref_t<U>, Later>) Later(U&& value)  // NOLINT: implicit
      : ready_(Result<T>(T(std::forward<U>(value)))) {}

  Later(Later&&) noexcept = default;
  Later& operator=(Later&&) noexcept = default;

  // Continues with f(Result<T>) when the answer comes. When f returns
  //   U, Result<U> or Later<U>:  gives a Later<U>
  //   nothing:                   gives nothing; the chain ends here, and f must not throw.
  template <typename F>
  auto Then(F&& f) && {
    using Step = std::decay_t<F>;
    using R = std::invoke_result_t<Step&, Result<T>>;
    if constexpr (std::is_void_v<R>) {
      if (ready_) return Step(std::forward<F>(f))(*std::exchange(ready_, std::nullopt));
      state_->Attach(std::make_shared<later_detail::Last<T, Step>>(std::forward<F>(f)));
    } else {
      return std::move(*this).template Continue<Step, R>(std::forward<F>(f));
    }
  }

  // Blocks until the answer or the deadline comes. At the deadline it cancels and returns kUnknown.
  // May be called once, and not after Then.
  Result<T> Wait() {
    if (ready_) return *std::exchange(ready_, std::nullopt);
    const auto waiter = std::make_shared<later_detail::Waiter<T>>();
    state_->Attach(waiter);
    if (auto answer = waiter->Wait(state_->deadline())) return *std::move(answer);
    state_->Cancel();
    return Error{ErrorCode::kUnknown, "there was no answer before the deadline"};
  }

  // Tells the producer that the answer is no longer needed.
  void Cancel() const {
    if (state_ != nullptr) state_->Cancel();
  }

 private:
  friend PromiseAndLater<T> MakeLater<T>(std::optional<Deadline> deadline);
  template <typename T2, typename U, typename F>
  friend class later_detail::Chained;
  template <typename U>
  friend class Later;

  explicit Later(std::shared_ptr<later_detail::State<T>> state) : state_(std::move(state)) {}

  template <typename Step, typename R>
  auto Continue(Step f) && {
    using U = typename later_detail::Returned<R>::Value;
    using Given = std::conditional_t<later_detail::Returned<R>::kIsLater, Later<U>, Result<U>>;
    if (ready_) {
      std::optional<Step> step(std::move(f));
      return Later<U>(later_detail::CallOnce<Given>(&step, *std::exchange(ready_, std::nullopt)));
    }
    auto chained =
        std::make_shared<later_detail::Chained<T, U, Step>>(std::move(f), state_->deadline());
    chained->Follow(state_);
    state_->Attach(chained->receiver());
    return Later<U>(std::shared_ptr<later_detail::State<U>>(std::move(chained)));
  }

  // Gives the answer to a state of a chain, now or when it comes; that passes a Cancel on to this.
  void Feed(const std::shared_ptr<later_detail::State<T>>& chained) && {
    if (ready_) return chained->Receive(*std::exchange(ready_, std::nullopt));
    chained->Follow(state_);
    state_->Attach(chained);
  }

  // One of the two. An answer that is there needs no shared state.
  std::optional<Result<T>> ready_;
  std::shared_ptr<later_detail::State<T>> state_;
};

template <typename T>
struct PromiseAndLater {
  Promise<T> promise;
  Later<T> later;
};

template <typename T>
PromiseAndLater<T> MakeLater(std::optional<Deadline> deadline) {
  auto state = std::make_shared<later_detail::State<T>>(deadline);
  return {Promise<T>(state), Later<T>(state)};
}

}  // namespace tidemark
