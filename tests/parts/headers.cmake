if(NOT (FORERUN_SANITIZE OR FORERUN_COVERAGE OR FORERUN_FUZZ)) # once is enough
  include(${CMAKE_CURRENT_SOURCE_DIR}/headers/headers.cmake)
endif()
