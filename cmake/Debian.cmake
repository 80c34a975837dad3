# Run by cpack when the files of a package lie in its folder and before they are packed: what Debian's policy wants of a package.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
set(packages program forerun library libforerun0 development libforerun-dev documentation forerun-doc)
set(source ${CMAKE_CURRENT_LIST_DIR}/..)

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# An entry for each version of CHANGELOG.md, with the day of its heading.
set(changelog "")
file(STRINGS ${source}/CHANGELOG.md headings REGEX "^## [[][0-9.]+[]] - [0-9-]+$")
foreach(heading IN LISTS headings)
  string(REGEX MATCH "[0-9.]+" version "${heading}")
  string(REGEX MATCH "[0-9]+-[0-9]+-[0-9]+$" day "${heading}")
  execute_process(COMMAND env LC_ALL=C date -u -d ${day} -R OUTPUT_VARIABLE date COMMAND_ERROR_IS_FATAL ANY)
  string(APPEND changelog "forerun (${version}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Version ${version}; changelog.gz lists what is new.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
endforeach()

while(packages)
  list(POP_FRONT packages component name)
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${component})
  if(NOT IS_DIRECTORY ${root})
    continue()
  endif()
  set(usr ${root}/usr)
  set(doc ${usr}/share/doc/${name})
  file(WRITE ${doc}/changelog.Debian "${changelog}")
  file(COPY_FILE ${source}/CHANGELOG.md ${doc}/changelog)
  file(WRITE ${doc}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: forerun

Files: *
Copyright: 2025-2026 the forerun authors
License: Apache-2.0

License: Apache-2.0
 On Debian systems, the full text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
")
  run(gzip -9n ${doc}/changelog.Debian ${doc}/changelog)
  file(GLOB pages ${usr}/share/man/man*/*.[0-9])
  if(pages)
    run(gzip -9n ${pages})
  endif()
  # Debian's zsh looks there and not in site-functions, which is for the administrator.
  if(IS_DIRECTORY ${usr}/share/zsh/site-functions)
    file(RENAME ${usr}/share/zsh/site-functions ${usr}/share/zsh/vendor-completions)
  endif()
  file(GLOB_RECURSE archives ${usr}/*.a)
  if(archives)
    run(strip --strip-debug ${archives})
  endif()
  # Overrides, each with its reason.
  if(EXISTS ${usr}/lib/pkgconfig)
    file(WRITE ${usr}/share/lintian/overrides/${name} "\
# One build serves packages, the archive and any prefix, so its libraries are in
# lib; with -DCMAKE_INSTALL_PREFIX=/usr they are in the folder of the architecture.
${name}: pkg-config-unavailable-for-cross-compilation
")
  elseif(name STREQUAL libforerun0)
    file(WRITE ${usr}/share/lintian/overrides/${name} "\
# CPack writes these scripts for each shared library; the trigger is there too.
${name}: maintscript-calls-ldconfig
")
  endif()
  run(chmod -R go-w,a+rX ${root}) # whatever the umask was
endwhile()
