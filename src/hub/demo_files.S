// The files of models/demo as read-only data. The assembler finds them by the include path that
// CMakeLists.txt sets.
.macro embed symbol, file
  .global qwick_demo_\symbol
  .global qwick_demo_\symbol\()_end
  .balign 64
qwick_demo_\symbol:
  .incbin "\file"
qwick_demo_\symbol\()_end:
.endm

.section .rodata
embed config, "config.json"
embed generation_config, "generation_config.json"
embed tokenizer, "tokenizer.json"
embed tokenizer_config, "tokenizer_config.json"
embed chat_template, "chat_template.jinja"
embed weights, "model.safetensors"

.section .note.GNU-stack, "", @progbits
