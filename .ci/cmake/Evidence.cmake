# Lists the libraries in the binary, in three ways: NOTICE, an SBOM in SPDX, and `rlock version -v`. FindDependencies has found
# the versions; a library with the version "none" is left out. (People write the text of NOTICE, which names the authors.)

if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/.ci/epoch OUTPUT_VARIABLE epoch ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT epoch MATCHES "^[0-9]+$")  # the sources are not in a git repository
    string(TIMESTAMP epoch %s UTC)
  endif()
  set(ENV{SOURCE_DATE_EPOCH} ${epoch})
endif()
string(TIMESTAMP created UTC)

set(sbom_packages "")
set(sbom_relations "")
set(built_with "")

function(sbom_package name version license)
  string(MAKE_C_IDENTIFIER "${name}" id)
  string(REPLACE "_" "-" id "SPDXRef-${id}")
  string(APPEND sbom_packages ",\n    {\"SPDXID\": \"${id}\", \"name\": \"${name}\", \"versionInfo\": \"${version}\",
     \"downloadLocation\": \"NOASSERTION\", \"filesAnalyzed\": false, \"copyrightText\": \"NOASSERTION\",
     \"licenseConcluded\": \"${license}\", \"licenseDeclared\": \"${license}\"")
  if(ARGN)
    string(APPEND sbom_packages ",\n     \"sourceInfo\": \"${ARGN}\"")
  endif()
  string(APPEND sbom_packages "}")
  string(APPEND sbom_relations ",\n    {\"spdxElementId\": \"SPDXRef-rlock\", \"relationshipType\": \"STATIC_LINK\",
     \"relatedSpdxElement\": \"${id}\"}")
  set(sbom_packages "${sbom_packages}" PARENT_SCOPE)
  set(sbom_relations "${sbom_relations}" PARENT_SCOPE)
  set(built_with "${built_with}${name} ${version}\\n" PARENT_SCOPE)
endfunction()

# component(<name> <version> <license> [<what it was built from>])
macro(component name version)
  if(NOT "${version}" STREQUAL "none")
    sbom_package("${name}" "${version}" ${ARGN})
  endif()
endmacro()

component(hiredis ${HIREDIS_VERSION} BSD-3-Clause ${HIREDIS_SOURCE})
component(fmt ${FMT_VERSION} MIT)
component(nlohmann-json ${JSON_VERSION} MIT)
component(CLI11 ${CLI11_VERSION} BSD-3-Clause)
component(OpenSSL ${OPENSSL_VERSION} Apache-2.0 ${OPENSSL_SOURCE})
component(zlib ${ZLIB_VERSION} Zlib)
component(zstd ${ZSTD_VERSION} BSD-3-Clause)
component(libstdc++ ${GCC_VERSION} "GPL-3.0-or-later WITH GCC-exception-3.1")
component(LLVM-libc++ ${LIBCXX_VERSION} "Apache-2.0 WITH LLVM-exception")
component(musl ${MUSL_VERSION} MIT)

set(machine ${CMAKE_SYSTEM_PROCESSOR})
string(SHA256 namespace "${PROJECT_VERSION} ${machine} ${created} ${sbom_packages}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/rlock.spdx.json @ONLY CONTENT [[{
  "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
  "name": "rlock-@PROJECT_VERSION@-@machine@",
  "documentNamespace": "urn:rlock:sbom:@namespace@",
  "creationInfo": {"created": "@created@", "creators": ["Tool: rlock's CMakeLists.txt"]},
  "packages": [
    {"SPDXID": "SPDXRef-rlock", "name": "rlock", "versionInfo": "@PROJECT_VERSION@", "primaryPackagePurpose": "APPLICATION",
     "downloadLocation": "NOASSERTION", "filesAnalyzed": false, "copyrightText": "NOASSERTION",
     "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0"}@sbom_packages@
  ],
  "relationships": [
    {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-rlock"}@sbom_relations@
  ]
}
]])
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/built_with.h @ONLY CONTENT [[#pragma once

/// The libraries in the binary and their versions, a line each: from .ci/cmake/Evidence.cmake.
#define RLOCK_BUILT_WITH "@built_with@"
]])
configure_file(${PROJECT_SOURCE_DIR}/NOTICE ${PROJECT_BINARY_DIR}/NOTICE @ONLY)
