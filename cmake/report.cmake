# Presentation of measurements from any program: amounts, tables, charts and pages of HTML.
file(GLOB report_sources CONFIGURE_DEPENDS apps/report/*.cpp)
add_library(heddle_report STATIC ${report_sources})
target_include_directories(heddle_report PUBLIC apps/report)
target_link_libraries(heddle_report PUBLIC heddle)
heddle_compiler_options(heddle_report)
heddle_compile_quickly(heddle_report)

# The presentation of the trials of `heddle tune`.
file(GLOB tune_sources CONFIGURE_DEPENDS apps/tune/*.cpp)
add_library(heddle_tune STATIC ${tune_sources})
target_link_libraries(heddle_tune PUBLIC heddle_report nlohmann_json::nlohmann_json)
heddle_compiler_options(heddle_tune)
heddle_compile_quickly(heddle_tune)
heddle_precompile_as(heddle_tune heddle_command)
