include(${CMAKE_CURRENT_SOURCE_DIR}/headers/headers.cmake)
