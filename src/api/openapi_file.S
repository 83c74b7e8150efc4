// openapi.json as read-only data, for openapi.cc. The assembler finds it by the include path that CMakeLists.txt
// sets.
.section .rodata
.global kQwickOpenapi, kQwickOpenapiEnd
kQwickOpenapi:
.incbin "openapi.json"
kQwickOpenapiEnd:

.section .note.GNU-stack, "", @progbits
