# Flags live on an interface target; nothing is added to CMAKE_C_FLAGS, so that a user's own flags stay the user's.
add_library(forerun_flags INTERFACE)
target_compile_options(forerun_flags INTERFACE
  -ffp-contract=off # the same bytes from every compiler: no fused multiply-add behind our back
  -Wall -Wextra -Wshadow -Wconversion -Wdouble-promotion -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla -Wundef
  $<$<BOOL:${FORERUN_WERROR}>:-Werror>)
target_compile_definitions(forerun_flags INTERFACE _POSIX_C_SOURCE=200809L)
# float-cast-overflow is in no group: a rate or a count of a file that an integer does not hold is undefined too. What the
# sanitizers find ends the program, or neither ctest nor the fuzzer would know of it.
set(forerun_sanitizers -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=undefined,float-cast-overflow)
if(FORERUN_SANITIZE)
  target_compile_options(forerun_flags INTERFACE ${forerun_sanitizers} -fno-omit-frame-pointer)
  target_link_options(forerun_flags INTERFACE -fsanitize=address,undefined)
endif()
if(FORERUN_TSAN)
  target_compile_options(forerun_flags INTERFACE -fsanitize=thread)
  target_link_options(forerun_flags INTERFACE -fsanitize=thread)
endif()
if(FORERUN_COVERAGE)
  target_compile_options(forerun_flags INTERFACE --coverage)
  target_link_options(forerun_flags INTERFACE --coverage)
endif()
if(FORERUN_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "FORERUN_FUZZ needs clang (libFuzzer): cmake --preset fuzz, or CC=clang")
  endif()
  target_compile_options(forerun_flags INTERFACE -fsanitize=fuzzer-no-link ${forerun_sanitizers} -fno-omit-frame-pointer)
  target_link_options(forerun_flags INTERFACE -fsanitize=address,undefined)
endif()
