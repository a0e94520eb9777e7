#include "programs/serve_commands.h"

#include <memory>
#include <string>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "base/settings.h"
#include "programs/demo.h"
#include "programs/doctor.h"
#include "programs/output.h"
#include "programs/serve.h"
#include "programs/token_actions.h"
#include "slack/app.h"

namespace tidemark::programs {

namespace {

void AddSettings(CLI::App& command, std::optional<std::string>& file) {
  command.add_option("--settings", file,
                     "A settings file (TIDEMARK_SETTINGS; default tidemark.toml, if there)");
}

std::string FlagHelp(const Setting& setting) {
  const std::string help = FullHelp(setting);
  if (setting.default_value.empty()) return help;
  return fmt::format("{} Default: {}", help, setting.default_value);
}

void AddServe(CLI::App& program, Action* action) {
  auto [command, options] =
      AddCommand<ServeOptions>(program,
                               {"serve", "Serve everything in one process",
                                "tidemark serve --listen 127.0.0.1:8080 --data tidemark-data"},
                               action, &Serve);
  AddSettings(*command, options->settings);
  for (const Setting& setting : ProgramSettings()) {
    // A secret on the command line shows in the list of processes: it has no flag.
    if (setting.kind == SettingKind::kSecret) continue;
    command->add_option_function<std::string>(
        FlagName(setting),
        [options = options, name = std::string(setting.name)](const std::string& value) {
          options->flags[name] = value;
        },
        FlagHelp(setting));
  }
  command->footer(
      "Secrets have no flag: they stand in the settings file, or in variables such as\n"
      "SLACK_SIGNING_SECRET and SLACK_BOT_TOKEN.\n\n" +
      command->get_footer());
}

void AddTokenFile(CLI::App& command, TokenOptions& options) {
  AddSettings(command, options.settings);
  command.add_option("--tokens", options.file,
                     "The file of tokens (setting api.tokens; default tidemark-tokens)");
}

void AddToken(CLI::App& program, Action* action) {
  CLI::App* group = AddGroup(program, "token", "Make, list and revoke tokens of the API");
  auto [create, create_options] = AddCommand<TokenOptions>(
      *group, {"create", "Make a token and print it, once", "tidemark token create ci"}, action,
      &CreateApiToken);
  create->add_option("name", create_options->name, "What to call it")->required();
  AddTokenFile(*create, *create_options);
  auto [list, list_options] = AddCommand<TokenOptions>(
      *group, {"list", "List the tokens, a line each", "tidemark token list"}, action,
      &ListApiTokens);
  AddTokenFile(*list, *list_options);
  auto [revoke, revoke_options] = AddCommand<TokenOptions>(
      *group, {"revoke", "Make a token worthless", "tidemark token revoke ci"}, action,
      &RevokeApiToken);
  revoke->add_option("name", revoke_options->name, "What it is called")->required();
  AddTokenFile(*revoke, *revoke_options);
}

void AddDoctor(CLI::App& program, Action* action) {
  auto [command, options] = AddCommand<DoctorOptions>(
      program,
      {"doctor", "Check settings, secret, token, scopes, clock and stores; say what to do",
       "tidemark doctor --settings tidemark.toml"},
      action, &Examine);
  AddSettings(*command, options->settings);
  command->add_option("--data", options->data,
                      "The folder that holds the tables (TIDEMARK_DATA; default tidemark-data)");
}

struct ManifestOptions {
  std::string url = "https://YOUR-HOST";
};

Result<ExitCode> PrintManifest(const ManifestOptions& options) {
  PrintText(slack::AppManifest(options.url));
  return ExitCode::kOk;
}

void AddManifest(CLI::App& program, Action* action) {
  auto [command, options] = AddCommand<ManifestOptions>(
      program,
      {"manifest", "Print the manifest to make the Slack app from, at api.slack.com/apps",
       "tidemark manifest --url https://tidemark.example.com"},
      action, &PrintManifest);
  command->add_option("--url", options->url, "Where Slack reaches the server, without a path");
}

void AddDemo(CLI::App& program, Action* action) {
  auto [command, options] =
      AddCommand<DemoOptions>(program,
                              {"demo", "Run a pretend Slack that sends events to a server",
                               "tidemark demo --to http://127.0.0.1:8080/slack/events --rate 20"},
                              action, &RunDemo);
  command->add_option("--listen", options->listen, "Where the pretend Web API listens")
      ->capture_default_str();
  command->add_option("--to", options->to, "Where events are sent to")->capture_default_str();
  command->add_option("--rate", options->rate, "Events a second")->capture_default_str();
  command->add_option("--events", options->events, "How many to send; 0 means until stopped")
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Another seed is another workspace")
      ->capture_default_str();
  command
      ->add_option("--speed", options->speed,
                   "How much faster than at Slack waits pass: retries come after 1 and 5 minutes, "
                   "late deliveries after 10")
      ->capture_default_str();
}

}  // namespace

void AddServeCommands(CLI::App& program, Action* action) {
  AddServe(program, action);
  AddToken(program, action);
  AddDoctor(program, action);
  AddManifest(program, action);
  AddDemo(program, action);
}

}  // namespace tidemark::programs
