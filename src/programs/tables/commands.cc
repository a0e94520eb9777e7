#include "programs/tables/commands.h"

#include <memory>
#include <string>
#include <utility>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "programs/command.h"
#include "programs/tables/call_action.h"
#include "programs/tables/item_actions.h"
#include "programs/tables/stream_actions.h"
#include "programs/tables/table_actions.h"
#include "programs/tables/verify_action.h"

namespace tidemark::programs {

namespace {

void AddTable(CLI::App& command, std::string& table) {
  command.add_option("table", table, "The name of the table")->required();
}

void AddNames(CLI::App& command, std::string& names) {
  command.add_option("--names", names, R"(Names in expressions, as JSON: {"#c":"count"})");
}

void AddBindings(CLI::App& command, Bindings& bindings) {
  AddNames(command, bindings.names);
  command.add_option("--values", bindings.values,
                     R"(Values in expressions, as DynamoDB JSON: {":one":{"N":"1"}})");
}

void AddCondition(CLI::App& command, std::optional<std::string>& condition, Bindings& bindings) {
  command.add_option("--condition", condition,
                     "Write only if this condition holds: attribute_not_exists(id)");
  AddBindings(command, bindings);
}

void AddKey(CLI::App& command, std::string& key) {
  command.add_option("--key", key, R"(The key of the item, as DynamoDB JSON: {"id":{"S":"a"}})")
      ->required();
}

void AddReturnOld(CLI::App& command, bool& return_old) {
  command.add_flag("--return-old", return_old, "Print the previous item");
}

// Each use of the option takes one value, so that a following argument is not taken as another.
void AddRepeated(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                 const std::string& help) {
  command.add_option(name, values, help)->allow_extra_args(false)->type_size(1);
}

// Returns an error text for CLI11, or an empty text if the number is valid.
std::string IsPositive(const std::string& text) {
  bool is_whole = text.find_first_not_of("0123456789") == std::string::npos;
  bool is_positive = is_whole && text.find_first_not_of('0') != std::string::npos;
  return is_positive ? "" : "'" + text + "' is not a whole number above 0";
}

// ---- Tables ----

void AddCreate(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<CreateOptions>(
      parent,
      {"create", "Create a table, and the data folder if it is missing",
       "tidemark tables create messages --key channel:S --sort ts:S \\\n"
       "      --index by-user:user:S:ts:S:keys --stream new-and-old --ttl expires"},
      action, &CreateTable);
  AddTable(*command, options->table);
  command->add_option("--key", options->key, "The partition key, NAME:TYPE with type S, N or B")
      ->required();
  command->add_option("--sort", options->sort, "The sort key, NAME:TYPE");
  AddRepeated(*command, "--index", options->indexes,
              "A global index, NAME:KEY:TYPE[:SORT:TYPE][:all|keys|include=A,B]; may be repeated");
  AddRepeated(*command, "--local-index", options->local_indexes,
              "A local index, NAME:SORT:TYPE[:all|keys|include=A,B]; may be repeated");
  command->add_option(
      "--stream", options->stream,
      "Enable the change stream; its records contain: keys, new, old or new-and-old");
  command->add_option("--ttl", options->ttl,
                      "The attribute with the time at which an item expires, in epoch seconds");
  AddRepeated(*command, "--tag", options->tags, "A tag, NAME=VALUE; may be repeated");
  command->add_flag("--protect", options->is_protected, "Refuse to drop the table");
  AddSource(*command, options->source);
}

void AddList(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<ListOptions>(
      parent, {"list", "Describe all tables, one on each line", "tidemark tables list --data data"},
      action, &ListTables);
  AddSource(*command, options->source);
}

void AddDescribe(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<TableOptions>(
      parent, {"describe", "Describe one table", "tidemark tables describe messages"}, action,
      &DescribeTable);
  AddTable(*command, options->table);
  AddSource(*command, options->source);
}

void AddAlter(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<AlterOptions>(
      parent,
      {"alter", "Change a table: its indexes, stream, time to live or protection",
       "tidemark tables alter messages --add-index by-team:team:S:ts:S"},
      action, &AlterTable);
  AddTable(*command, options->table);
  command->add_option("--add-index", options->add_index,
                      "Add a global index, NAME:KEY:TYPE[:SORT:TYPE][:all|keys|include=A,B]");
  command->add_option("--drop-index", options->drop_index, "Drop the index with this name");
  auto* stream = command->add_option("--stream", options->stream,
                                     "Enable the change stream: keys, new, old or new-and-old");
  command->add_flag("--no-stream", options->no_stream, "Disable the change stream")
      ->excludes(stream);
  auto* ttl = command->add_option("--ttl", options->ttl,
                                  "Expire items by this attribute, in epoch seconds");
  command->add_flag("--no-ttl", options->no_ttl, "Switch time to live off")->excludes(ttl);
  auto* protect = command->add_flag("--protect", options->protect, "Refuse to drop the table");
  command->add_flag("--no-protect", options->no_protect, "Allow to drop the table")
      ->excludes(protect);
  AddSource(*command, options->source);
}

void AddDrop(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<TableOptions>(
      parent, {"drop", "Delete a table and all its items", "tidemark tables drop messages"}, action,
      &DropTable);
  AddTable(*command, options->table);
  AddSource(*command, options->source);
}

void AddTag(CLI::App& parent, Action* action) {
  auto [command, options] =
      AddCommand<TagOptions>(parent,
                             {"tag", "Change the tags of a table, and print them",
                              "tidemark tables tag messages --set team=search --remove trial"},
                             action, &TagTable);
  AddTable(*command, options->table);
  AddRepeated(*command, "--set", options->set, "A tag to set, NAME=VALUE; may be repeated");
  AddRepeated(*command, "--remove", options->remove,
              "The name of a tag to remove; may be repeated");
  AddSource(*command, options->source);
}

// ---- Items ----

void AddPut(CLI::App& parent, Action* action) {
  auto [command, options] =
      AddCommand<PutOptions>(parent,
                             {"put", "Store an item, or many from standard input",
                              "tidemark tables put users --item '{\"id\":{\"S\":\"a\"}}' "
                              "--condition 'attribute_not_exists(id)'\n"
                              "  tidemark tables put users --item - < items.jsonl"},
                             action, &PutItems);
  AddTable(*command, options->table);
  command
      ->add_option(
          "--item", options->item,
          "The item, as DynamoDB JSON; - reads items from standard input, one on each line")
      ->required();
  AddCondition(*command, options->condition, options->bindings);
  AddReturnOld(*command, options->return_old);
  AddSource(*command, options->source);
  AddProgress(*command, options->source.folder);
}

void AddGet(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<GetOptions>(
      parent,
      {"get", "Print the item with a key; the exit code is 1 if there is none",
       "tidemark tables get users --key '{\"id\":{\"S\":\"a\"}}'"},
      action, &GetItem);
  AddTable(*command, options->table);
  AddKey(*command, options->key);
  command->add_option("--projection", options->projection,
                      "Print only these attributes: id, address.city");
  AddNames(*command, options->names);
  AddSource(*command, options->source);
}

void AddUpdate(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<UpdateOptions>(
      parent,
      {"update", "Change an item with an expression, or create it if it is missing",
       "tidemark tables update users --key '{\"id\":{\"S\":\"a\"}}' \\\n"
       "      --update 'ADD #c :one' --names '{\"#c\":\"count\"}' "
       "--values '{\":one\":{\"N\":\"1\"}}' --return new"},
      action, &UpdateItem);
  AddTable(*command, options->table);
  AddKey(*command, options->key);
  command->add_option("--update", options->update, "What to change: SET a = :a REMOVE b")
      ->required();
  AddCondition(*command, options->condition, options->bindings);
  command->add_option("--return", options->returned,
                      "Print the item: old, new, updated-old or updated-new");
  AddSource(*command, options->source);
}

void AddDelete(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<DeleteOptions>(
      parent,
      {"delete", "Delete the item with a key, if there is one",
       "tidemark tables delete users --key '{\"id\":{\"S\":\"a\"}}' --return-old"},
      action, &DeleteItem);
  AddTable(*command, options->table);
  AddKey(*command, options->key);
  AddCondition(*command, options->condition, options->bindings);
  AddReturnOld(*command, options->return_old);
  AddSource(*command, options->source);
}

void AddRead(CLI::App& command, ReadOptions& options) {
  AddTable(command, options.table);
  command.add_option("--index", options.index, "Read this index instead of the table");
  command.add_option("--filter", options.filter,
                     "Print only the items for which this condition holds");
  command.add_option("--projection", options.projection,
                     "Print only these attributes: id, address.city");
  AddBindings(command, options.bindings);
  command.add_option("--limit", options.limit, "Print at most this many items")
      ->check(IsPositive, "");
  command.add_option("--start-after", options.start_after,
                     "Continue after this key, which an earlier command printed");
  command.add_flag("--count", options.count, "Print only the number of items");
  AddSource(command, options.source);
  AddProgress(command, options.source.folder);
}

void AddQuery(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<QueryOptions>(
      parent,
      {"query", "Print the items of one partition, in the order of their sort key",
       "tidemark tables query messages --key-condition 'channel = :c AND ts > :t' \\\n"
       "      --values '{\":c\":{\"S\":\"C1\"},\":t\":{\"S\":\"1700000000\"}}' --descending "
       "--limit 20"},
      action, &QueryItems);
  command
      ->add_option("--key-condition", options->key_condition,
                   "Which items: id = :id AND begins_with(ts, :day)")
      ->required();
  command->add_flag("--descending", options->descending, "Print in descending order");
  AddRead(*command, options->read);
}

void AddScan(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<ScanOptions>(
      parent,
      {"scan", "Print all items of a table or an index",
       "tidemark tables scan users --filter 'age > :a' --values '{\":a\":{\"N\":\"17\"}}'"},
      action, &ScanItems);
  auto* segment = command->add_option("--segment", options->segment,
                                      "Print one segment of the table, counted from 0");
  auto* total = command->add_option("--total-segments", options->total_segments,
                                    "The total number of segments");
  segment->needs(total);
  total->needs(segment);
  AddRead(*command, options->read);
}

void AddCall(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<CallOptions>(
      parent,
      {"call", "Make any request in DynamoDB's JSON: transactions, batches and others",
       "tidemark tables call TransactWriteItems --request '{\"TransactItems\":\n"
       "      [{\"Put\":{\"TableName\":\"users\",\"Item\":{\"id\":{\"S\":\"a\"}}}}]}'\n"
       "  tidemark tables call BatchGetItem --request - < request.json"},
      action, &CallOperation);
  command
      ->add_option("operation", options->operation,
                   "The operation, such as TransactWriteItems, TransactGetItems or BatchGetItem")
      ->required();
  command
      ->add_option("--request", options->request,
                   "The request, as DynamoDB JSON; - reads it from standard input")
      ->required();
  AddSource(*command, options->source);
}

// ---- Streams and folders ----

void AddStreams(CLI::App& parent, Action* action) {
  CLI::App* streams = AddGroup(parent, "streams", "Read the change stream of a table");
  auto [command, options] =
      AddCommand<TailOptions>(*streams,
                              {"tail", "Print the changes of the last 24 hours, oldest first",
                               "tidemark tables streams tail messages --from latest --follow"},
                              action, &TailStream);
  AddTable(*command, options->table);
  command
      ->add_option_function<std::string>(
          "--from",
          [from_latest = &options->from_latest](const std::string& from) {
            *from_latest = from == "latest";
          },
          "horizon: start at the oldest stored change (default); latest: only new changes")
      ->check(CLI::IsMember({"horizon", "latest"}));
  command->add_flag(
      "--follow", options->follow,
      "Wait for more changes; reads once a second, a folder only while no other process uses it");
  command->add_option("--limit", options->limit, "Stop after this many changes")
      ->check(IsPositive, "");
  AddSource(*command, options->source);
}

void AddVerify(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<VerifyOptions>(
      parent,
      {"verify", "Check every row of the data folder, or of a server while it serves",
       "tidemark tables verify --data data\n"
       "  tidemark tables verify --server http://127.0.0.1:8080"},
      action, &VerifyTables);
  AddSource(*command, options->source);
  AddProgress(*command, options->source.folder);
}

}  // namespace

void AddTablesCommands(CLI::App& program, Action* action) {
  CLI::App* tables =
      AddGroup(program, "tables",
               "Read and change the tables of a data folder or a server. Prints JSON lines to "
               "standard output and messages to standard error");
  for (auto add : {AddCreate, AddList, AddDescribe, AddAlter, AddDrop, AddTag, AddPut, AddGet,
                   AddUpdate, AddDelete, AddQuery, AddScan, AddCall, AddStreams, AddVerify}) {
    add(*tables, action);
  }
}

}  // namespace tidemark::programs
