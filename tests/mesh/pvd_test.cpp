// PVD files: a series that is complete after every step.
#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "heddle/error.hpp"
#include "io/temporary_folder.hpp"
#include "pvd_file.hpp"

using namespace heddle;
using namespace heddle::mesh;

namespace {

const std::string pvd_head =
    std::string(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" "
        "byte_order=\"") +
    (std::endian::native == std::endian::little ? "Little" : "Big") + "Endian\">\n  <Collection>\n";
const std::string tail = "  </Collection>\n</VTKFile>\n";
const std::string first =
    "    <DataSet timestep=\"0\" group=\"\" part=\"0\" file=\"steps/a&amp;0.vtu\"/>\n";

TEST(Pvd, IsWholeAfterEveryStep) {
  const TemporaryFolder folder;
  PvdFile series(folder / "a.pvd");
  EXPECT_EQ(folder.files(), 0u);
  series.add(0, "steps/a&0.vtu");
  EXPECT_EQ(contents(folder / "a.pvd"), pvd_head + first + tail);
  series.add(0.1, "steps/a1.vtu");
  const std::string both =
      pvd_head + first +
      "    <DataSet timestep=\"0.1\" group=\"\" part=\"0\" file=\"steps/a1.vtu\"/>\n" + tail;
  EXPECT_EQ(contents(folder / "a.pvd"), both);
  EXPECT_EQ(folder.files(), 1u);
}

TEST(Pvd, GoesOnWithWhatIsThere) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.pvd";
  PvdFile before(path);
  before.add(0, "steps/a&0.vtu");
  before.add(1, "steps/a1.vtu");
  PvdFile series(path, 0.95);
  series.add(1, "a1.vtu");
  EXPECT_EQ(contents(path),
            pvd_head + first +
                "    <DataSet timestep=\"1\" group=\"\" part=\"0\" file=\"a1.vtu\"/>\n" + tail);
  PvdFile other(folder / "other.pvd", 1);
  other.add(0, "steps/a&0.vtu");
  EXPECT_EQ(contents(folder / "other.pvd"), pvd_head + first + tail);
}

TEST(Pvd, RefusesStepsAndStaysAsItWas) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.pvd";
  PvdFile series(path);
  series.add(0, "steps/a&0.vtu");
  const auto expect_error = [&](double time, const std::string& file, const std::string& message) {
    try {
      series.add(time, file);
      ADD_FAILURE() << message;
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), message);
      EXPECT_EQ(error.kind(), ErrorKind::usage);
    }
    EXPECT_EQ(contents(path), pvd_head + first + tail);
  };
  expect_error(std::numeric_limits<double>::infinity(), "a.vtu",
               path + ": a time that is not finite");
  expect_error(1, "", path + ": a step without a file");
  expect_error(1, "a\n.vtu", "the name of a file has a control character");

  PvdFile nowhere("/nowhere/a.pvd");
  EXPECT_THROW(nowhere.add(0, "a.vtu"), Error);
}

}  // namespace
