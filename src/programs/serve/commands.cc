#include "programs/serve/commands.h"

#include <memory>
#include <string>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "base/settings.h"
#include "programs/output.h"
#include "programs/program_settings.h"
#include "programs/serve/demo.h"
#include "programs/serve/doctor.h"
#include "programs/serve/serve.h"
#include "programs/serve/token_actions.h"
#include "slack/app.h"

namespace tidemark::programs {

namespace {

void AddSettings(CLI::App& command, std::optional<std::string>& file) {
  command.add_option(
      "--settings", file,
      "The settings file (or TIDEMARK_SETTINGS; default tidemark.toml, if it exists)");
}

std::string FlagHelp(const Setting& setting) {
  const std::string help = FullHelp(setting);
  if (setting.default_value.empty()) return help;
  return fmt::format("{} Default: {}", help, setting.default_value);
}

void AddServe(CLI::App& program, Action* action) {
  auto [command, options] =
      AddCommand<ServeOptions>(program,
                               {"serve", "Run the server, with everything in one process",
                                "tidemark serve --listen 127.0.0.1:8080 --data tidemark-data"},
                               action, &Serve);
  AddSettings(*command, options->settings);
  for (const Setting& setting : ProgramSettings()) {
    // Other users can see the command line in the list of processes, so secrets have no flags.
    if (setting.kind == SettingKind::kSecret) continue;
    // Short for a flag that is typed often.
    const bool is_short = setting.name == "dynamodb.listen";
    command->add_option_function<std::string>(
        is_short ? "--dynamodb," + FlagName(setting) : FlagName(setting),
        [options = options, name = std::string(setting.name)](const std::string& value) {
          options->flags[name] = value;
        },
        FlagHelp(setting));
  }
  command->footer(
      "Secrets have no flags. Set them in the settings file, or with environment variables such\n"
      "as SLACK_SIGNING_SECRET and SLACK_BOT_TOKEN.\n\n" +
      command->get_footer());
}

void AddTokenFile(CLI::App& command, TokenOptions& options) {
  AddSettings(command, options.settings);
  command.add_option("--tokens", options.file,
                     "The file of API tokens (setting api.tokens; default tidemark-tokens)");
}

void AddToken(CLI::App& program, Action* action) {
  CLI::App* group = AddGroup(program, "token", "Create, list and revoke API tokens");
  auto [create, create_options] =
      AddCommand<TokenOptions>(*group,
                               {"create", "Create a token and print it; it cannot be printed again",
                                "tidemark token create ci"},
                               action, &CreateApiToken);
  create->add_option("name", create_options->name, "The name of the token")->required();
  create->add_flag("--metrics-only", create_options->metrics_only,
                   "The token can read /metrics and nothing else");
  AddTokenFile(*create, *create_options);
  auto [list, list_options] = AddCommand<TokenOptions>(
      *group, {"list", "List the tokens, one on each line", "tidemark token list"}, action,
      &ListApiTokens);
  AddTokenFile(*list, *list_options);
  auto [revoke, revoke_options] = AddCommand<TokenOptions>(
      *group, {"revoke", "Revoke a token", "tidemark token revoke ci"}, action, &RevokeApiToken);
  revoke->add_option("name", revoke_options->name, "The name of the token")->required();
  AddTokenFile(*revoke, *revoke_options);
}

void AddDoctor(CLI::App& program, Action* action) {
  auto [command, options] = AddCommand<DoctorOptions>(
      program,
      {"doctor", "Check settings, secrets, scopes, clock and stores, and print what to do",
       "tidemark doctor --settings tidemark.toml"},
      action, &Examine);
  AddSettings(*command, options->settings);
  command->add_option("--server", options->server,
                      "The server that uses the data folder, such as http://127.0.0.1:8080, if it "
                      "does not listen where the settings say");
  command->add_option("--data", options->data,
                      "The data folder (or TIDEMARK_DATA; default tidemark-data)");
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
      {"manifest", "Print the manifest for creating the Slack app at api.slack.com/apps",
       "tidemark manifest --url https://tidemark.example.com"},
      action, &PrintManifest);
  command->add_option("--url", options->url,
                      "The URL at which Slack reaches the server, without a path");
}

void AddDemo(CLI::App& program, Action* action) {
  auto [command, options] =
      AddCommand<DemoOptions>(program,
                              {"demo", "Simulate Slack, and send events to a server",
                               "tidemark demo --to http://127.0.0.1:8080/slack/events --rate 20"},
                              action, &RunDemo);
  command->add_option("--listen", options->listen, "The address of the simulated Web API")
      ->capture_default_str();
  command->add_option("--to", options->to, "The URL to which events are sent")
      ->capture_default_str();
  command->add_option("--rate", options->rate, "Events per second")->capture_default_str();
  command->add_option("--events", options->events, "The number of events to send; 0 means no limit")
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Each seed gives another workspace")
      ->capture_default_str();
  command
      ->add_option("--speed", options->speed,
                   "Divides the waits of Slack by this number: retries after 1 and 5 minutes, late "
                   "deliveries after 10")
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
