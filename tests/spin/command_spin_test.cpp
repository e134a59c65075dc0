// `heddle-spin` from a user's point of view.
#include <cmath>
#include <fstream>
#include <regex>
#include <sstream>

#include "cli/run.hpp"
#include "heddle/problems.hpp"
#include "surface_mesh.hpp"

namespace heddle::spin {
namespace {

class CommandSpin : public CommandLine {
 protected:
  void SetUp() override {
    mesh::write_obj(folder / "blob.obj", {random_surface(162), {}});
    before_ = files();
  }
  Result spin(const std::vector<std::string>& arguments) const {
    return Process(HEDDLE_SPIN_PROGRAM, arguments, folder / "").wait();
  }
  /// Expects one line, exit status 2, and nothing written.
  void expect_refused(const std::vector<std::string>& arguments, const std::string& message) const {
    const Result result = spin(arguments);
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.error, "heddle-spin: " + message + "\n");
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(files(), before_);
  }
  /// Writes a file of the test's own, which counts as present before the run.
  void write(const std::string& name, const std::string& text) {
    folder.write(name, text);
    before_.insert(name);
  }

  Names before_;
};

TEST_F(CommandSpin, WritesASurfaceAndAPicture) {
  const Result result = spin({"blob.obj", "--function", "waves", "--scale", "2", "--output",
                              "waves.obj", "--picture", "waves.png"});
  EXPECT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.error, "");
  EXPECT_NE(result.out.find("surface    blob.obj: 162 vertices, 320 triangles, genus 0"),
            std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find("written    waves.obj"), std::string::npos);
  const mesh::SurfaceMesh before = mesh::read_surface_mesh(folder / "blob.obj");
  const mesh::SurfaceMesh after = mesh::read_surface_mesh(folder / "waves.obj");
  EXPECT_EQ(after.triangles.triangle.size(), before.triangles.triangle.size());
  EXPECT_NE(after.triangles.position[0], before.triangles.position[0]);
  EXPECT_EQ(text_of("waves.png").substr(1, 3), "PNG");
}

TEST_F(CommandSpin, TakesAPreconditioner) {
  const auto report = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"blob.obj", "--function", "waves", "--json"});
    const Result result = spin(options);
    EXPECT_EQ(result.status, 0) << result.error;
    return result.json();
  };
  const auto jacobi = report({"--preconditioner", "jacobi"});
  EXPECT_EQ(jacobi["preconditioner"], "jacobi");
  EXPECT_FALSE(jacobi["eigenvector"].contains("multigrid"));
  for (const std::string eigensolver : {"inverse-iteration", "lobpcg"}) {
    const auto usual = report({"--eigensolver", eigensolver});  // the default on a CPU
    EXPECT_EQ(usual["preconditioner"], "multigrid");
    EXPECT_GE(usual["eigenvector"]["multigrid"]["levels"].size(), 2U);
    EXPECT_EQ(usual["positions"]["multigrid"]["levels"][0]["rows"], 162);
    EXPECT_LT(usual["eigenvector"]["iterations"], jacobi["eigenvector"]["iterations"]);
    EXPECT_LT(usual["positions"]["iterations"], jacobi["positions"]["iterations"]);
    EXPECT_NEAR(usual["dirac_eigenvalue"].get<double>(), jacobi["dirac_eigenvalue"].get<double>(),
                1e-4);
  }
  for (const std::string precision : {"full", "single"}) {
    const auto named = report({"--level-precision", precision});
    EXPECT_EQ(named["eigenvector"]["multigrid"]["level_precision"], precision);
    EXPECT_EQ(named["positions"]["multigrid"]["level_precision"], "full");
    EXPECT_LT(named["eigenvector"]["iterations"], jacobi["eigenvector"]["iterations"]);
  }
  EXPECT_NE(
      spin({"blob.obj", "--function", "waves", "--output", "w.obj"}).out.find("levels     162, "),
      std::string::npos);
  EXPECT_EQ(spin({"blob.obj", "--function", "waves", "--preconditioner", "ilu", "--json"}).status,
            2);
}

TEST_F(CommandSpin, ReportsAsJson) {
  const Result result = spin({"blob.obj", "--function", "zero", "--json"});
  EXPECT_EQ(result.status, 0) << result.error;
  const auto json = result.json();
  EXPECT_EQ(json["vertices"], 162);
  EXPECT_EQ(json["triangles"], 320);
  EXPECT_EQ(json["converged"], true);
  EXPECT_EQ(json["rho"]["from"], "zero");
  EXPECT_EQ(json["eigenvector"]["entries"], 162 + 3 * 320);
  EXPECT_EQ(json["eigenvector"]["steps"].size(), 1U);
  EXPECT_EQ(json["positions"]["status"], "converged");
  EXPECT_NEAR(json["quasi_conformal_distortion"]["largest"].get<double>(), 1, 1e-6);
  for (const std::string phase :
       {"read", "assemble", "build", "eigenvector", "positions", "quality", "write", "all"}) {
    EXPECT_TRUE(json["times"][phase].is_number()) << phase;
  }
  EXPECT_EQ(files(), before_);
}

/// The files that it writes are the systems that it solves.
TEST_F(CommandSpin, DumpsSystemsThatSolveReads) {
  const Result result = spin({"blob.obj", "--function", "bump", "--dump", "blob", "-q"});
  ASSERT_EQ(result.status, 0) << result.error;
  const Result dirac = run({"solve", "blob-dirac.npz", "--entry", "quaternion", "--rhs",
                            "blob-dirac-rhs.mtx", "--json"});
  EXPECT_EQ(dirac.status, 0) << dirac.error;
  EXPECT_EQ(dirac.json()["rows"], 162);
  for (const std::string coordinate : {"x", "y", "z"}) {
    const Result poisson =
        run({"solve", "blob-poisson.npz", "--rhs", "blob-poisson-rhs-" + coordinate + ".mtx",
             "--tolerance", "1e-8", "--json"});
    EXPECT_EQ(poisson.status, 0) << poisson.error << poisson.out;
  }
}

/// A change far beyond what a surface can follow.
TEST_F(CommandSpin, WarnsOfAnglesThatAreNotKept) {
  const Result result = spin({"blob.obj", "--function", "waves", "--scale", "40", "--json"});
  EXPECT_EQ(result.error_lines(), 1U) << result.error;
  EXPECT_EQ(result.error.find("heddle-spin: warning: angles are not kept: 5% of the surface"), 0U);
  EXPECT_GT(result.json()["quasi_conformal_distortion"]["percentile_95"].get<double>(), 3);
  EXPECT_TRUE(result.json()["warning"].is_string());
  EXPECT_EQ(spin({"blob.obj", "--function", "zero", "--json"}).error, "");
}

TEST_F(CommandSpin, TellsTheBoxAndLeavesLonelyVerticesOut) {
  std::string text = "v 9 9 9\n";
  std::istringstream lines(text_of("blob.obj"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string keyword;
    words >> keyword;
    if (keyword != "f") {
      text += line + "\n";
      continue;
    }
    text += "f";
    for (int vertex = 0; words >> vertex;) text += " " + std::to_string(vertex + 1);
    text += "\n";
  }
  folder.write("more.obj", text);
  const Result result = spin({"more.obj", "--function", "zero", "--json"});
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.json()["left_out"], 1);
  EXPECT_EQ(result.json()["vertices"], 162);
  EXPECT_LT(result.json()["box"]["most"][0].get<double>(), 9);
}

TEST_F(CommandSpin, TakesRhoFromAFile) {
  std::string text;
  for (int v = 0; v < 162; ++v) text += std::to_string(0.01 * v) + "\n";
  folder.write("rho.txt", text);
  const Result result = spin({"blob.obj", "--rho", "rho.txt", "--json"});
  EXPECT_EQ(result.status, 0) << result.error;
  EXPECT_NEAR(result.json()["rho"]["largest"].get<double>(), 1.6, 0.02);
}

/// A plan that cannot run is detected before anything is written.
TEST_F(CommandSpin, DumpsNothingThatItCannotSolve) {
  write("rho.txt", [] {
    std::string text;
    for (int v = 0; v < 162; ++v) text += "1e30 ";
    return text;
  }());
  const Result result =
      spin({"blob.obj", "--rho", "rho.txt", "--plan", "chosen,stored=float", "--dump", "d"});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.error_lines(), 1U);
  EXPECT_EQ(files(), before_);
}

TEST_F(CommandSpin, DrawsAPictureAlone) {
  const Result result = spin({"blob.obj", "--function", "x", "--picture", "x.png"});
  EXPECT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(files(), (Names{"blob.obj", "x.png"}));
}

TEST_F(CommandSpin, SaysWhatDidNotConverge) {
  const Result result = spin({"blob.obj", "--function", "waves", "--preconditioner", "jacobi",
                              "--max-iterations", "2", "--output", "w.obj"});
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.out.find("no eigenvector: no surface is made"), std::string::npos);
  EXPECT_EQ(files(), before_);
}

TEST_F(CommandSpin, RefusesBadInput) {
  expect_refused({"none.obj", "--function", "x", "--json"}, "none.obj: No such file or directory");
  expect_refused(
      {"blob.obj", "--json"},
      "give exactly one of --rho, --function and --image; it says how the curvature is to change");
  expect_refused({"blob.obj", "--function", "x"},
                 "there is nothing to do without --output, --picture, --dump or --json");
  expect_refused({"blob.obj", "--function", "x", "-o", "x.ply"},
                 "--output x.ply: surfaces are written as .obj");
  expect_refused({"blob.obj", "--function", "x", "-o", "./blob.obj"},
                 "--output ./blob.obj is the file that the command reads");
  expect_refused({"blob.obj", "--function", "sine", "--json"},
                 "no function is named 'sine'; there are: zero, x, y, z, bump, stripes, waves");
  expect_refused({"blob.obj", "--image", "grey.png", "--json"},
                 "--image grey.png needs a surface with texture coordinates at every corner (vt in "
                 "an OBJ file)");
  write("b-dirac.npz", "1 2");
  expect_refused({"blob.obj", "--rho", "b-dirac.npz", "--dump", "b"},
                 "--dump b-dirac.npz is the file that --rho reads");
  write("p.obj", "{}");
  expect_refused({"blob.obj", "--function", "x", "--profile", "p.obj", "-o", "p.obj"},
                 "--output p.obj is the file that --profile reads");
  expect_refused({"blob.obj", "--function", "x", "--json", "--max-steps", "4294967297"},
                 "--max-steps: '4294967297' is not a whole number from 1 to 100000 (see --help)");
  write("rho.txt", "1 2");
  expect_refused({"blob.obj", "--rho", "rho.txt", "--output", "o.obj"},
                 "rho.txt: 2 numbers; the surface has 162 vertices and 320 triangles");
  write("open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  expect_refused({"open.obj", "--function", "x", "--output", "o.obj"},
                 "open.obj: the edge from vertex 1 to 2 belongs to one triangle only: the surface "
                 "is not closed");
  write("far.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n");
  expect_refused({"far.obj", "--function", "x", "--output", "o.obj"},
                 "far.obj:4: face 1 refers to vertex 9, which does not exist");
  write("control.obj", "v 0 0 0\nv 1\x01 0 0\nv 0 1 0\nf 1 2 3\n");
  expect_refused({"control.obj", "--function", "x", "--output", "o.obj"},
                 "control.obj:2: control byte 0x01 in the text");
  expect_refused({"blob.obj", "--function", "x", "--json", "--eigensolver", "lanczos"},
                 "--eigensolver must be inverse-iteration or lobpcg");
  expect_refused({"blob.obj", "--function", "x", "--json", "--tolerance", "2"},
                 "--tolerance must be above 0 and at most --angle");
  expect_refused({"blob.obj", "--rho", "rho.txt", "--json", "--scale", "2"},
                 "--scale applies to --function and --image; --rho has its own scale");
  expect_refused({"blob.obj", "--function", "x", "--json", "--scale", "nan"},
                 "--scale must be from -1e6 to 1e6");
  expect_refused({"blob.obj", "--function", "x", "--json", "--device", "gpu"},
                 "no device is named 'gpu'; there are: cpu, cuda, cuda:N, auto");
}

TEST_F(CommandSpin, HelpHasAnExampleThatWorks) {
  const Result help = spin({"--help"});
  EXPECT_EQ(help.status, 0);
  std::smatch found;
  ASSERT_TRUE(std::regex_search(help.out, found, std::regex("Example: heddle-spin (.*)")));
  std::filesystem::rename(folder / "blob.obj", folder / "sphere.obj");
  setenv("spin", HEDDLE_SPIN_PROGRAM, 1);
  const Result result = shell("$spin " + found[1].str());
  EXPECT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(files(), (Names{"sphere.obj", "waves.obj", "waves.png"}));
}

}  // namespace
}  // namespace heddle::spin
