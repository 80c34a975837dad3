# Flags live on an interface target; nothing is added to CMAKE_C_FLAGS, so that a user's own flags stay the user's.
add_library(forerun_flags INTERFACE)
target_compile_options(forerun_flags INTERFACE
  -ffp-contract=off # the same bytes from every compiler: no fused multiply-add behind our back
  -Wall -Wextra -Wshadow -Wconversion -Wdouble-promotion -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla -Wundef
  $<$<BOOL:${FORERUN_WERROR}>:-Werror>)
target_compile_definitions(forerun_flags INTERFACE _POSIX_C_SOURCE=200809L)
if(FORERUN_SANITIZE)
  target_compile_options(forerun_flags INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(forerun_flags INTERFACE -fsanitize=address,undefined)
endif()
if(FORERUN_COVERAGE)
  target_compile_options(forerun_flags INTERFACE --coverage)
  target_link_options(forerun_flags INTERFACE --coverage)
endif()
if(FORERUN_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "FORERUN_FUZZ needs clang (libFuzzer): cmake --preset fuzz, or CC=clang")
  endif()
  target_compile_options(forerun_flags INTERFACE -fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer)
  target_link_options(forerun_flags INTERFACE -fsanitize=address,undefined)
endif()
