# forerun.spdx.json: what forerun is built with, as SPDX 2.3. A row is a module of pkg-config that Packages.cmake looks for, its
# variable there and its licence; tests/package.sh compares rows and modules. Versions are those that were found.
set(forerun_dependencies
    "glib-2.0|GLIB_glib-2.0|LGPL-2.1-or-later"
    "gobject-2.0|GLIB_gobject-2.0|LGPL-2.1-or-later"
    "gio-2.0|GLIB_gio-2.0|LGPL-2.1-or-later"
    "json-glib-1.0|JSON_GLIB|LGPL-2.1-or-later"
    "yaml-0.1|LIBYAML|MIT"
    "nlopt|NLOPT|LGPL-2.1-or-later"
    "lapacke|LAPACKE|BSD-3-Clause-Open-MPI")

find_package(Git QUIET)
set(created "$ENV{SOURCE_DATE_EPOCH}")
if(created STREQUAL "" AND GIT_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${PROJECT_SOURCE_DIR} log -1 --format=%ct OUTPUT_VARIABLE created
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(created STREQUAL "")
  set(created 0)
endif()
set(ENV{SOURCE_DATE_EPOCH} ${created})
string(TIMESTAMP created "%Y-%m-%dT%H:%M:%SZ" UTC)
unset(ENV{SOURCE_DATE_EPOCH})

set(packages "")
set(relations "")
function(forerun_spdx name version licence)
  string(REGEX REPLACE "[^A-Za-z0-9.-]" "-" id "SPDXRef-Package-${name}")
  string(APPEND packages ",
    {\"name\": \"${name}\", \"SPDXID\": \"${id}\", \"versionInfo\": \"${version}\",
     \"downloadLocation\": \"NOASSERTION\", \"filesAnalyzed\": false, \"copyrightText\": \"NOASSERTION\",
     \"licenseConcluded\": \"NOASSERTION\", \"licenseDeclared\": \"${licence}\"}")
  string(APPEND relations ",
    {\"spdxElementId\": \"SPDXRef-Package-forerun\", \"relationshipType\": \"DEPENDS_ON\", \"relatedSpdxElement\": \"${id}\"}")
  set(packages "${packages}" PARENT_SCOPE)
  set(relations "${relations}" PARENT_SCOPE)
endfunction()
foreach(row IN LISTS forerun_dependencies)
  string(REPLACE "|" ";" row "${row}")
  list(GET row 0 module)
  list(GET row 1 variable)
  list(GET row 2 licence)
  forerun_spdx(${module} "${${variable}_VERSION}" ${licence})
endforeach()
if(XLSXWRITER_FOUND)
  forerun_spdx(xlsxwriter "${XLSXWRITER_VERSION}" BSD-2-Clause)
endif()
if(SQLITE_FOUND)
  forerun_spdx(sqlite3 "${SQLITE_VERSION}" blessing)
endif()
if(FORERUN_WITH_PROTOBUF)
  forerun_spdx(libprotobuf-c "${PROTOBUF_C_VERSION}" BSD-2-Clause)
endif()
if(MPI_C_FOUND)
  forerun_spdx(mpi "${MPI_C_VERSION}" NOASSERTION)
endif()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/forerun.spdx.json @ONLY CONTENT [[{
  "spdxVersion": "SPDX-2.3",
  "dataLicense": "CC0-1.0",
  "SPDXID": "SPDXRef-DOCUMENT",
  "name": "forerun-@PROJECT_VERSION@",
  "documentNamespace": "urn:forerun:spdx:@PROJECT_VERSION@:@created@",
  "creationInfo": {"created": "@created@", "creators": ["Tool: forerun-cmake"]},
  "packages": [
    {"name": "forerun", "SPDXID": "SPDXRef-Package-forerun", "versionInfo": "@PROJECT_VERSION@",
     "downloadLocation": "NOASSERTION", "filesAnalyzed": false, "copyrightText": "NOASSERTION",
     "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0"}@packages@
  ],
  "relationships": [
    {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
     "relatedSpdxElement": "SPDXRef-Package-forerun"}@relations@
  ]
}
]])
