// Serves the files of messages. They come from anybody who may write in a channel, so whatever they
// hold a browser neither shows nor runs nor guesses at: an attachment of a harmless type, without
// sniffing, in a sandbox, for pages of the same origin alone. The name is told with no character
// that could end a header or hide what kind of file it is.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "apps/archive/reader.h"
#include "http/router.h"
#include "objects/objects.h"

namespace tidemark::api {

// The handler of …/messages/{ts}/files/{file}. Both outlive it; without objects there is no file.
std::function<http::Response(const http::RoutedRequest&)> ServeFile(archive::Reader* reader,
                                                                    objects::Objects* objects);

// The value of Content-Disposition for a file of this name; `fallback` stands for an empty one.
std::string DispositionOf(std::string_view name, std::string_view fallback);

// The type under which a file is served: its own when a browser does nothing with it but show it,
// application/octet-stream otherwise.
std::string_view SafeType(std::string_view mimetype);

}  // namespace tidemark::api
