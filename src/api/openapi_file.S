// openapi.json as read-only data, for openapi.cc. The assembler finds it by the include path that CMakeLists.txt
// sets.
.section .rodata
.global qwick_openapi, qwick_openapi_end
qwick_openapi:
.incbin "openapi.json"
qwick_openapi_end:

.section .note.GNU-stack, "", @progbits
