// The chat templates that come with qwick. `qwen3` gives the prompts that Qwen3 was trained on: the same
// text as the model's own template wherever that gives any. Where that one fails, on a user's, system's or
// assistant's content that is null or made of parts, this one takes null as "" and joins the text of the
// parts.
#include "text/chat_template_builtin.h"

namespace qwick {
namespace {

constexpr std::string_view kChatmlTemplate = R"jinja({%- macro text_of(content) -%}
  {%- if content is string -%}
    {{- content -}}
  {%- elif content -%}
    {%- for part in content -%}{{- part.text -}}{%- endfor -%}
  {%- endif -%}
{%- endmacro -%}
{%- for message in messages -%}
  {{- '<|im_start|>' ~ message.role ~ '\n' ~ text_of(message.content) ~ '<|im_end|>\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
  {{- '<|im_start|>assistant\n' -}}
{%- endif -%}
)jinja";

constexpr std::string_view kQwen3Template = R"jinja({%- macro text_of(content) -%}
  {%- if content is string -%}
    {{- content -}}
  {%- elif content -%}
    {%- for part in content -%}{{- part.text -}}{%- endfor -%}
  {%- endif -%}
{%- endmacro -%}

{%- macro turn(role, text) -%}
  {{- '<|im_start|>' ~ role ~ '\n' ~ text ~ '<|im_end|>\n' -}}
{%- endmacro -%}

{%- macro tool_call_block(call) -%}
  {%- set function = call.function or call -%}
  {{- '<tool_call>\n{"name": "' ~ function.name ~ '", "arguments": ' -}}
  {{- function.arguments if function.arguments is string else function.arguments | tojson -}}
  {{- '}\n</tool_call>' -}}
{%- endmacro -%}

{#- The system turn, which also holds the tools. -#}
{%- set system = text_of(messages[0].content) if messages[0].role == 'system' else none -%}
{%- if tools -%}
  {%- set signatures -%}
    {%- for tool in tools %}{{ '\n' ~ (tool | tojson) }}{% endfor -%}
  {%- endset -%}
  {%- set instructions = "# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
      "You are provided with function signatures within <tools></tools> XML tags:\n<tools>" ~ signatures ~
      "\n</tools>\n\nFor each function call, return a json object with function name and arguments within "
      "<tool_call></tool_call> XML tags:\n<tool_call>\n"
      '{"name": <function-name>, "arguments": <args-json-object>}' "\n</tool_call>" -%}
  {{- turn('system', instructions if system is none else system ~ '\n\n' ~ instructions) -}}
{%- elif system is not none -%}
  {{- turn('system', system) -}}
{%- endif -%}

{#- The latest question. Reasoning before it is over and done with, and is left out. -#}
{%- set question = namespace(index=messages | length - 1) -%}
{%- for message in messages -%}
  {%- if message.role == 'user' -%}
    {%- set text = text_of(message.content) -%}
    {%- if not (text.startswith('<tool_response>') and text.endswith('</tool_response>')) -%}
      {%- set question.index = loop.index0 -%}
    {%- endif -%}
  {%- endif -%}
{%- endfor -%}

{%- for message in messages -%}
  {%- set text = text_of(message.content) -%}
  {%- if message.role == 'user' or (message.role == 'system' and not loop.first) -%}
    {{- turn(message.role, text) -}}
  {%- elif message.role == 'assistant' -%}
    {%- set reasoning = '' -%}
    {%- if message.reasoning_content is defined and message.reasoning_content is not none -%}
      {%- set reasoning = message.reasoning_content -%}
    {%- elif '</think>' in text -%}
      {%- set reasoning = text.partition('</think>')[0].rstrip('\n').rpartition('<think>')[2].lstrip('\n') -%}
      {%- set text = text.rpartition('</think>')[2].lstrip('\n') -%}
    {%- endif -%}
    {{- '<|im_start|>assistant\n' -}}
    {%- if loop.index0 > question.index and (loop.last or reasoning) -%}
      {{- '<think>\n' ~ reasoning.strip('\n') ~ '\n</think>\n\n' ~ text.lstrip('\n') -}}
    {%- else -%}
      {{- text -}}
    {%- endif -%}
    {%- for call in message.tool_calls or [] -%}
      {{- '\n' if text or not loop.first -}}
      {{- tool_call_block(call) -}}
    {%- endfor -%}
    {{- '<|im_end|>\n' -}}
  {%- elif message.role == 'tool' -%}
    {%- if loop.first or loop.previtem.role != 'tool' -%}{{- '<|im_start|>user' -}}{%- endif -%}
    {{- '\n<tool_response>\n' ~ message.content ~ '\n</tool_response>' -}}
    {%- if loop.last or loop.nextitem.role != 'tool' -%}{{- '<|im_end|>\n' -}}{%- endif -%}
  {%- endif -%}
{%- endfor -%}

{%- if add_generation_prompt -%}
  {{- '<|im_start|>assistant\n' -}}
  {%- if enable_thinking is defined and enable_thinking is false -%}
    {{- '<think>\n\n</think>\n\n' -}}
  {%- endif -%}
{%- endif -%}
)jinja";

constexpr BuiltinTemplate kTemplates[] = {{"chatml", kChatmlTemplate}, {"qwen3", kQwen3Template}};

}  // namespace

std::span<const BuiltinTemplate> builtin_templates() {
  return kTemplates;
}

}  // namespace qwick
