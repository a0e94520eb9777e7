// Serves the files of messages. Anybody who may write in a channel can upload one, so a browser
// must never run it: it is sent as an attachment of a harmless type, without sniffing, in a
// sandbox, and only for pages of the same origin. Its name is sent without characters that could
// end a header or hide the type of the file.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "apps/archive/reader.h"
#include "http/router.h"
#include "objects/objects.h"

namespace tidemark::api {

// The handler of …/messages/{ts}/files/{file}. It opens the file on the calling thread, which a
// slow disk may block. Both outlive it. `objects` may be null: then there are no files.
http::RouteHandler ServeFile(archive::Reader* reader, objects::Objects* objects);

// The value of Content-Disposition for a file of this name; `fallback` is used when it is empty.
std::string DispositionOf(std::string_view name, std::string_view fallback);

// The content type that is sent: the file's own type when a browser can only display it, otherwise
// application/octet-stream.
std::string_view SafeType(std::string_view mimetype);

}  // namespace tidemark::api
