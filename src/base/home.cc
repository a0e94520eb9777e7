#include "base/home.h"

namespace tidemark {

namespace {

thread_local std::shared_ptr<Home> current;

}  // namespace

std::shared_ptr<Home> Home::OfThisThread() { return current; }

Home::Here::Here(std::shared_ptr<Home> home) { current = std::move(home); }

Home::Here::~Here() { current = nullptr; }

}  // namespace tidemark
