// Tests of the Jinja interpreter: scoping, errors with their lines, and bounds. That texts are those of
// Python's jinja2 is shown by tests/differential/test_jinja.py.
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "base/json.h"
#include "text/jinja/json_value.h"
#include "text/jinja/lexer.h"
#include "text/jinja/template.h"

namespace qwick::jinja {
namespace {

std::string render(const std::string& source, const char* variables = "{}", const Limits& limits = {}) {
  Variables values;
  const Json json = parse_json(variables, "test", 200);
  for (const auto& [name, value] : json.items()) {
    values.emplace_back(name, value_from_json(value));
  }
  return Template(source, "t").render(values, limits);
}

// The message of the error, and its code in `code`.
std::string error_of(const std::string& source, ErrorCode code, const char* variables = "{}") {
  try {
    render(source, variables);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << source << ": " << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error: " << source;
  return {};
}

std::string compile_error(const std::string& source) {
  return error_of(source, ErrorCode::kUnsupported);
}
std::string run_error(const std::string& source, const char* variables = "{}") {
  return error_of(source, ErrorCode::kInvalidArgument, variables);
}

TEST(JinjaLexer, CutsTagsAndCountsLines) {
  const auto tokens = tokenize("a\n{{ x }}\n{% if y %}\nb", "t");
  ASSERT_EQ(tokens.size(), 11);
  EXPECT_EQ(tokens[0].text, "a\n");
  EXPECT_EQ(tokens[2].text, "x");
  EXPECT_EQ(tokens[2].line, 2);
  EXPECT_EQ(tokens[6].text, "if");
  EXPECT_EQ(tokens[6].line, 3);
  EXPECT_EQ(tokens[9].text, "b");  // the newline behind a block is dropped
  EXPECT_EQ(tokens[9].line, 4);
  EXPECT_EQ(tokens[10].kind, TokenKind::kEnd);
}

TEST(JinjaLexer, Numbers) {
  const auto tokens = tokenize("{{ 1_000 0x1F 0b11 1.5e3 1e2 7 }}", "t");
  EXPECT_EQ(tokens[1].integer, 1000);
  EXPECT_EQ(tokens[2].integer, 31);
  EXPECT_EQ(tokens[3].integer, 3);
  EXPECT_EQ(tokens[4].real, 1500.0);
  EXPECT_EQ(tokens[5].real, 100.0);
  EXPECT_EQ(tokens[6].kind, TokenKind::kInteger);
}

TEST(Jinja, WhiteSpace) {
  EXPECT_EQ(render("  {% if true %}\n  a\n  {% endif %}\nb\n"), "  a\nb");
  EXPECT_EQ(render("x  {{- 1 -}}  y"), "x1y");
  EXPECT_EQ(render("  {%+ if true +%}\na{% endif %}"), "  \na");
  EXPECT_EQ(render("{% raw %}{{ x }}{% endraw %}"), "{{ x }}");
}

TEST(Jinja, Scopes) {
  EXPECT_EQ(render("{% set a = 0 %}{% for x in [1, 2] %}{% set a = a + x %}{{ a }}{% endfor %}{{ a }}"),
            "120");
  EXPECT_EQ(
      render("{% set n = namespace(a=0) %}{% for x in [1, 2] %}{% set n.a = n.a + x %}{% endfor %}{{ n.a }}"),
      "3");
  EXPECT_EQ(render("{% macro m(x) %}{{ x }}{{ y }}{% endmacro %}{% set y = 2 %}{{ m(1) }}"), "12");
  EXPECT_EQ(render("{% if c %}{% set a = 1 %}{% endif %}{{ a }}", R"({"a": 7, "c": false})"), "7");
}

TEST(Jinja, TextIsIndexedByCharacters) {
  EXPECT_EQ(render("{{ s | length }} {{ s[1] }} {{ s[-2:] }} {{ s[::-1] }}", R"({"s": "aé世🙂"})"),
            "4 é 世🙂 🙂世éa");
}

TEST(Jinja, ValuesPrintAsPythonPrintsThem) {
  EXPECT_EQ(render("{{ x }}", R"({"x": [1, 2.0, true, null, "it's", {"a": "é\n"}]})"),
            R"([1, 2.0, True, None, "it's", {'a': 'é\n'}])");
  EXPECT_EQ(render("{{ x | tojson }}", R"({"x": {"b": [1, 2.0, null], "a": "<é>\n"}})"),
            R"({"b": [1, 2.0, null], "a": "<é>\n"})");
}

TEST(JinjaErrors, NameLineAndConstruct) {
  EXPECT_EQ(compile_error("a\n{% include 'x' %}"),
            "t, line 2: the tag 'include' is not supported in chat templates");
  EXPECT_EQ(compile_error("\n\n{{ x | nosuch }}"), "t, line 3: no filter named 'nosuch'");
  EXPECT_EQ(compile_error("{{ x is nosuch }}"), "t, line 1: no test named 'nosuch'");
  EXPECT_EQ(compile_error("{{ x | wordwrap }}"), "t, line 1: the filter 'wordwrap' is not supported");
  EXPECT_EQ(compile_error("{{ x.encode() }}"), "t, line 1: the method 'encode' is not supported");
  EXPECT_EQ(compile_error("{{ lipsum() }}"), "t, line 1: the function 'lipsum' is not supported");
  EXPECT_EQ(compile_error("\n{% nosuch %}"), "t, line 2: unknown tag 'nosuch'");
  EXPECT_EQ(compile_error("{% break %}"), "t, line 1: 'break' outside of a loop");
  EXPECT_EQ(compile_error("{% if x %}\n"), "t, line 1: unexpected end of template, expected endif");
  EXPECT_EQ(compile_error("{{ 99999999999999999999 }}"),
            "t, line 1: integer 99999999999999999999 does not fit into 64 bits");
  EXPECT_EQ(compile_error("\xff"), "t: the template is not UTF-8");
}

TEST(JinjaErrors, AtRunTime) {
  EXPECT_EQ(run_error("\n{{ raise_exception('roles must alternate') }}"), "t, line 2: roles must alternate");
  EXPECT_EQ(run_error("{{ x.y.z }}", R"({"x": {}})"), "t, line 1: 'dict object' has no attribute 'y'");
  EXPECT_EQ(run_error("\n\n{{ 'a' + 1 }}"), "t, line 3: can only concatenate str (not \"int\") to str");
  EXPECT_EQ(run_error("{{ x.append(1) }}", R"({"x": []})"),
            "t, line 1: access to attribute 'append' of 'list' object is unsafe.");
  EXPECT_EQ(run_error("{{ 9223372036854775807 + 1 }}"), "t, line 1: integer beyond 64 bits");
}

TEST(JinjaBounds, Nesting) {
  compile_error("{{ " + std::string(100000, '(') + "1" + std::string(100000, ')') + " }}");
  compile_error("{{ " + std::string(100000, '[') + std::string(100000, ']') + " }}");
  compile_error("{{ " + std::string(100000, '-') + "1 }}");
  std::string nots;
  std::string sum = "1";
  std::string ifs;
  for (int i = 0; i < 5000; ++i) {
    nots += "not ";
    sum += "+1";
    ifs += "{% if 1 %}";
  }
  compile_error("{{ " + nots + "1 }}");
  compile_error("{{ " + sum + " }}");
  compile_error(ifs);
  run_error("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}");
  run_error("{% for x in [[1]] recursive %}{{ loop([[1]]) }}{% endfor %}");
  run_error("{% set n = namespace(l=[]) %}{% for i in range(1000) %}{% set n.l = [n.l] %}{% endfor %}");
  run_error(
      "{% set n = namespace(l=[1]) %}{% for i in range(1000) %}{% set n.l = n.l | map('string') %}{% endfor "
      "%}");
}

TEST(JinjaBounds, StepsMemoryAndOutput) {
  run_error("{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}");
  run_error("{{ range(100001) | list }}");
  run_error("{{ 'a' * 1000000000000 }}");
  run_error("{{ [1] * 1000000000000 }}");
  run_error("{{ 'a'.center(10000000000) }}");
  run_error("{{ '%1000000000d' % 1 }}");
  run_error("{% set n = namespace(s='ab') %}{% for i in range(60) %}{% set n.s = n.s + n.s %}{% endfor %}");
  run_error("{% for a in range(100000) %}{{ 'aaaaaaaaaaaaaaaa' * 1000 }}{% endfor %}");
  // A value that holds itself many times over is small, its text is not.
  run_error(
      "{% set n = namespace(l=[1]) %}{% for i in range(60) %}{% set n.l = [n.l, n.l] %}{% endfor %}{{ n.l "
      "}}");
  run_error(
      "{% set n = namespace(l=[1]) %}{% for i in range(60) %}{% set n.l = [n.l, n.l] %}{% endfor %}{{ n.l == "
      "[n.l, 1] }}{{ n.l | tojson }}");
}

TEST(JinjaBounds, CirclesOfNamespacesAreFreed) {
  EXPECT_EQ(
      render("{% set n = namespace() %}{% set n.self = n %}{% macro m() %}{{ n.x }}{% endmacro %}"
             "{% set n.m = m %}{% for x in [1] %}{% set n.l = loop %}{{ loop.changed(loop) }}{% endfor %}ok"),
      "Trueok");
  run_error("{% set n = namespace() %}{% set n.self = n %}{{ n }}");
}

TEST(JinjaBounds, ALoopThatOutlivesItsFunction) {
  EXPECT_EQ(
      render("{% set n = namespace() %}{% macro m() %}{% for x in [1, 2, 3] if x > 1 %}{% set n.l = loop %}"
             "{% break %}{% endfor %}{% endmacro %}{% macro o() %}{% set a = 5 %}{{ a }}{{ n.l.nextitem }}{% "
             "endmacro %}"
             "{{ m() }}{{ o() }}"),
      "53");
}

TEST(Jinja, LongTextsAreLinear) {
  const std::string json = "{\"s\": \"" + std::string(4 << 20, 'x') + "\"}";
  const std::string text = render(
      "{% set p = s.split('</think>') %}{{ '<|im_start|>' + 'user' + '\\n' + p[-1].lstrip('\\n') + "
      "'<|im_end|>' }}",
      json.c_str());
  EXPECT_EQ(text.size(), (4U << 20) + 27);
}

}  // namespace
}  // namespace qwick::jinja
