# Each public header is compiled as the only content of a file, twice in a row (its guard), seeing the include folders of its
# layer and of those that layers.txt allows, and no other. A header that needs another one before it, or that includes against the
# direction of the architecture, stops the build.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/layers.txt)
file(STRINGS layers.txt rows REGEX "^[a-z]")
foreach(row IN LISTS rows)
  separate_arguments(words UNIX_COMMAND "${row}")
  list(POP_FRONT words layer folder prefix)
  if(layer MATCHES "/") # a subfolder has no public headers
    continue()
  endif()
  set(folder_of_${layer} ${PROJECT_SOURCE_DIR}/${folder})
  # A new header has to be compiled without anyone listing it: hence a glob, looked at again by every build.
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/include/${layer}/*.h
       ${PROJECT_SOURCE_DIR}/${folder}/include/*.h)
  if(NOT headers)
    continue()
  endif()
  set(sources)
  foreach(header IN LISTS headers)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/${folder}/include ${header})
    string(MAKE_C_IDENTIFIER ${name} source)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/headers/${source}.c)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${name}\"\n#include \"${name}\"\n")
    list(APPEND sources ${source})
  endforeach()
  add_library(headers_${layer} OBJECT ${sources})
  foreach(other IN ITEMS ${layer} LISTS words)
    target_include_directories(headers_${layer} PRIVATE ${folder_of_${other}}/include)
  endforeach()
  target_link_libraries(headers_${layer} PRIVATE forerun_flags PkgConfig::GLIB PkgConfig::JSON_GLIB PkgConfig::LIBYAML)
endforeach()
