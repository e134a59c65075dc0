# `docs`: the API reference as HTML, built without warnings, in docs/html of the build folder.
find_program(HEDDLE_DOXYGEN doxygen)
mark_as_advanced(HEDDLE_DOXYGEN)
if(HEDDLE_DOXYGEN)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/docs)
  add_custom_target(docs
    COMMAND ${CMAKE_COMMAND} -E env HEDDLE_DOCS_FOLDER=${PROJECT_BINARY_DIR}/docs
      ${HEDDLE_DOXYGEN} docs/Doxyfile
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    COMMENT "The API reference: ${PROJECT_BINARY_DIR}/docs/html/index.html"
    VERBATIM)
endif()
