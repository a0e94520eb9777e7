#include "programs/key/commands.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "programs/key/actions.h"

namespace tidemark::programs {

void AddKeyCommands(CLI::App& program, Action* action) {
  CLI::App* group =
      AddGroup(program, "key", "Create, list and revoke access keys of the DynamoDB port");
  auto [create, create_options] = AddCommand<KeyOptions>(
      *group,
      {"create", "Create an access key and print it; its secret cannot be printed again",
       "tidemark key create reports --table orders --read-only"},
      action, &CreateAccessKey);
  create->add_option("name", create_options->name, "The name of the key")->required();
  create->add_option("--table", create_options->tables,
                     "The key is good for this table only; give it several times for several");
  create->add_flag("--read-only", create_options->read_only, "The key can only read");
  create->add_option("--write", create_options->writes,
                     "The key may also change this table of Tidemark's own, which others can only "
                     "read. A mistake there breaks what the apps promise");
  AddSource(*create, create_options->source);
  auto [list, list_options] = AddCommand<KeyOptions>(
      *group, {"list", "List the access keys, one on each line", "tidemark key list"}, action,
      &ListAccessKeys);
  AddSource(*list, list_options->source);
  auto [revoke, revoke_options] =
      AddCommand<KeyOptions>(*group,
                             {"revoke", "Revoke an access key",
                              "tidemark key revoke reports\n"
                              "  tidemark key revoke reports --server http://127.0.0.1:8080"},
                             action, &RevokeAccessKey);
  revoke->add_option("name", revoke_options->name, "The name or the id of the key")->required();
  AddSource(*revoke, revoke_options->source);
}

}  // namespace tidemark::programs
