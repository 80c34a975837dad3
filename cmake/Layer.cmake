# forerun_layer(NAME SOURCES … USES …): one static library of one layer. It sees its own include/ folder and those of the layers
# that it names, and no other: an include against the direction of the architecture does not compile. Its sources may stand in
# subfolders, which see each other's private headers. Names of all layers gather in the global property forerun_layers.
function(forerun_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 LAYER "" "" "SOURCES;USES")
  add_library(forerun_${name} STATIC ${LAYER_SOURCES})
  set_property(GLOBAL APPEND PROPERTY forerun_layers ${name})
  target_include_directories(forerun_${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/include)
  set(folders ${LAYER_SOURCES})
  list(TRANSFORM folders PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(TRANSFORM folders REPLACE "/[^/]*$" "")
  list(REMOVE_DUPLICATES folders)
  target_include_directories(forerun_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${folders})
  # What is installed as a library shows the names of its public header alone.
  set_target_properties(forerun_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
  target_link_libraries(forerun_${name} PUBLIC PkgConfig::GLIB m PRIVATE forerun_flags)
  set_property(TARGET forerun_${name} PROPERTY FORERUN_USES ${LAYER_USES})
  foreach(use IN LISTS LAYER_USES)
    target_link_libraries(forerun_${name} PUBLIC forerun_${use})
  endforeach()
endfunction()
