// An operation whose request and reply are what their descriptions say (fields.h), without outcomes
// that are exceptions.
#pragma once

#include <string_view>

#include "wire/fields.h"
#include "wire/operation.h"

namespace tidemark::wire {

template <typename Reply>
Message EncodePlainReply(const Reply& reply) {
  return {.body = Encode(reply)};
}

template <typename Request, typename Reply>
constexpr Operation<Request, Reply> Plain(std::string_view name,
                                          Service service = Service::kTables) {
  return {.name = name,
          .service = service,
          .encode_request = &Encode<Request>,
          .decode_request = &DecodeRequest<Request>,
          .encode_reply = &EncodePlainReply<Reply>,
          .decode_reply = &DecodeBody<Reply>};
}

}  // namespace tidemark::wire
