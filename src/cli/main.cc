#include "cli/main.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>

#include "api/errors.h"
#include "base/error.h"
#include "cli/input.h"
#include "cli/options.h"
#include "version.h"

namespace qwick::cli {
namespace {

void add_option(CLI::App& app, std::string_view name, Options& options) {
  const bool is_required = name.ends_with('!');
  if (is_required) name.remove_suffix(1);
  const OptionSpec& spec = option_spec(name);
  const std::string flag(name);
  const std::string help(spec.help);
  CLI::Option* option = std::visit(
      [&](auto field) -> CLI::Option* {
        auto& value = options.*field;
        if constexpr (std::is_same_v<decltype(field), bool Options::*>) {
          return app.add_flag(flag, value, help);
        } else if constexpr (std::is_same_v<decltype(field), std::vector<int32_t> Options::*> ||
                             std::is_same_v<decltype(field), std::vector<double> Options::*>) {
          return app.add_option(flag, value, help)->delimiter(',');
        } else {
          return app.add_option(flag, value, help)->capture_default_str();
        }
      },
      spec.field);
  if (const size_t at = flag.find("--"); at != std::string::npos)
    option->envname(environment_variable(std::string_view(flag).substr(at)));
  option->required(is_required);
}

// "bench engine" becomes the subcommand `engine` of `bench`.
CLI::App* add_command(CLI::App& app, const Command& command) {
  const size_t space = command.name.find(' ');
  if (space == std::string_view::npos)
    return app.add_subcommand(std::string(command.name), std::string(command.help));
  const std::string group(command.name.substr(0, space));
  const auto groups = app.get_subcommands([&](const CLI::App* sub) { return sub->get_name() == group; });
  CLI::App* parent = nullptr;
  if (groups.empty()) {
    parent = app.add_subcommand(group, "measurements: limits, engine, serve");
    parent->require_subcommand(1);
  } else {
    parent = groups.front();
  }
  return parent->add_subcommand(std::string(command.name.substr(space + 1)), std::string(command.help));
}

}  // namespace

int run(int argc, char** argv) {
  CLI::App app("qwick: Qwen3 and its relatives behind the OpenAI API, on any machine", "qwick");
  app.set_version_flag("--version", "qwick " QWICK_VERSION);
  app.require_subcommand(1);
  Options options;
  int status = 0;
  for (const Command& command : commands()) {
    CLI::App* sub = add_command(app, command);
    for (const std::string_view name : command.options) add_option(*sub, name, options);
    sub->callback([&options, &status, &command] {
      const bool has_model = std::any_of(command.options.begin(), command.options.end(),
                                         [](std::string_view name) { return name.starts_with("MODEL"); });
      if (has_model) options.model = model_path(options);
      status = command.run(options);
    });
  }
  try {
    app.parse(argc, argv);
    return status;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const Error& error) {
    std::fprintf(stderr, "qwick: %s\n", error.what());
    return error.code() == ErrorCode::kIo ? 1 : 2;
  } catch (const api::ApiError& error) {
    std::fprintf(stderr, "qwick: %s\n", error.what());
    return 2;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "qwick: out of memory\n");
    return 1;
  }
}

}  // namespace qwick::cli
