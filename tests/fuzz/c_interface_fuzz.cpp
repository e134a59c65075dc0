// heddle.h under any sequence of calls on a few objects, including null and destroyed ones, with
// views and patterns of any numbers, and settings of any names and values: each call returns a
// status that has a name.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "heddle.h"

namespace {

/// Numbers from the input; 0 once it is used up.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  bool empty() const { return size_ == 0; }
  int next() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  int below(int limit) { return next() % limit; }
  /// Usually `usual`.
  template <class T>
  T mostly(T usual) {
    const int byte = next();
    return byte < 240 ? usual : static_cast<T>(byte - 245);
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

constexpr int slots = 3, max_rows = 12;

/// The names of all settings, from the library's table.
const std::vector<std::string>& setting_names() {
  static const std::vector<std::string> names = [] {
    std::string table(heddle_settings_table(nullptr, 0), '\0');
    heddle_settings_table(table.data(), table.size() + 1);
    const std::string before = "\"name\":\"";
    std::vector<std::string> found;
    for (auto at = table.find(before); at != std::string::npos; at = table.find(before, at)) {
      at += before.size();
      found.push_back(table.substr(at, table.find('"', at) - at));
    }
    return found;
  }();
  return names;
}

/// Values that each suit some settings or none.
const std::vector<std::string>& setting_values() {
  static const std::vector<std::string> values = [] {
    std::istringstream words(
        "0 1 3 8 0.5 1e-8 1e400 nan inf 99999999999999999999 1,3 2,4 0,256 true no cpu CSR pJDS "
        "hisparse never run=1 rows auto last best single full k w jacobi l1-jacobi gauss-seidel "
        "plain adaptive minres product multigrid predict nvlink h100 soap");
    std::vector<std::string> found{""};
    for (std::string word; words >> word;) found.push_back(word);
    return found;
  }();
  return values;
}

class Session {
 public:
  /// Begins with a solver in each slot, for a small system with some entry.
  explicit Session(Bytes bytes) : bytes_(bytes) {
    check(heddle_context_create(&context_));
    check(heddle_define_entry(context_,
                              R"({"name": "split", "members": ["x", "y"], "multiply":
                              {"x": "a.x * x.x + a.y * x.y", "y": "a.x * x.y + a.y * x.x"}})",
                              &entry_, &entry_scalars_, &row_scalars_));
    // In kept inputs, bytes below 250 keep the meaning they had before there were definitions.
    if (const int byte = bytes_.next(); byte < 250) {
      entry_ = static_cast<heddle_entry>(byte % 9);
      entry_scalars_ = heddle_entry_scalars(entry_);
      row_scalars_ = heddle_row_scalars(entry_);
    }
    a_.fill(1);
    b_.fill(1);
    constexpr int rows = 5;
    const std::array<std::int64_t, rows + 1> places{0, 1, 2, 3, 4, 5};
    heddle_pattern pattern{};
    pattern.struct_size = sizeof pattern;
    pattern.rows = pattern.columns = pattern.entries = rows;
    pattern.row = pattern.column = places.data();
    pattern.row_bits = pattern.column_bits = 64;
    const int scalars = entry_scalars_;
    for (int k = 0; k < rows; ++k) a_[static_cast<std::size_t>(k * scalars)] = 2 * scalars;
    const heddle_view values{a_.data(), rows, entry_, HEDDLE_DOUBLE, HEDDLE_ROW_MAJOR, HEDDLE_HOST};
    for (int k = 0; k < slots; ++k) {
      check(heddle_matrix_from_csr(context_, &pattern, &values, &matrices_[k]));
      check(heddle_operator_create(matrices_[k], nullptr, &operators_[k]));
      check(heddle_solver_create(operators_[k], k == 0 ? "cg" : "gmres", nullptr, nullptr,
                                 &solvers_[k]));
    }
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    heddle_context_destroy(&context_);
    for (int k = 0; k < slots; ++k) {
      heddle_matrix_destroy(&matrices_[k]);
      heddle_operator_destroy(&operators_[k]);
      heddle_preconditioner_destroy(&preconditioners_[k]);
      heddle_solver_destroy(&solvers_[k]);
    }
    heddle_settings_destroy(&settings_);
  }

  void run() {
    for (int calls = 0; calls < 60 && !bytes_.empty(); ++calls) step();
  }

 private:
  void check(heddle_status status) const {
    if (heddle_status_name(status) == nullptr) std::abort();
    std::array<char, 300> text{};
    heddle_message(context_, text.data(), text.size());
    for (const char c : text) {
      if (c != '\0' && c < ' ') std::abort();
    }
  }
  template <class T>
  T& any(std::array<T, slots>& objects) {
    return objects[static_cast<std::size_t>(bytes_.below(slots))];
  }
  /// A view of an array that holds everything a call may read or write.
  heddle_view view(std::array<double, 1024>& numbers, int count) {
    for (int k = 0; k < 8; ++k) numbers[static_cast<std::size_t>(k)] = bytes_.below(9) - 4;
    return {numbers.data(),
            bytes_.mostly(std::int64_t{count}),
            bytes_.mostly(entry_),
            bytes_.mostly(HEDDLE_DOUBLE),
            bytes_.mostly(HEDDLE_ROW_MAJOR),
            bytes_.mostly(HEDDLE_HOST)};
  }
  void assemble() {
    std::array<std::int64_t, 64> row{}, column{};
    const int rows = bytes_.below(max_rows), entries = bytes_.below(max_rows);
    const bool is_csr = bytes_.below(2) == 0;
    for (int k = 0; k < max_rows; ++k) {
      const auto at = static_cast<std::size_t>(k);
      row[at] = bytes_.mostly(std::int64_t{is_csr ? k * entries / (rows + 1) : k});
      column[at] = bytes_.mostly(std::int64_t{k});
    }
    if (is_csr) row[static_cast<std::size_t>(rows)] = entries;
    heddle_pattern pattern{};
    pattern.struct_size = bytes_.mostly(sizeof pattern);
    pattern.rows = rows;
    pattern.columns = bytes_.mostly(std::int64_t{rows});
    pattern.entries = entries;
    pattern.row = row.data();
    pattern.column = column.data();
    pattern.row_bits = pattern.column_bits = 64;
    pattern.base = bytes_.mostly(std::int32_t{0});
    heddle_view values = view(a_, entries);
    heddle_matrix*& matrix = any(matrices_);
    heddle_matrix_destroy(&matrix);
    check((is_csr ? heddle_matrix_from_csr : heddle_matrix_from_triplets)(context_, &pattern,
                                                                          &values, &matrix));
  }
  static int apply(void* user, const heddle_view* x, const heddle_view* y) {
    auto& session = *static_cast<Session*>(user);
    const int of_row =
        x->entry == session.entry_ ? session.row_scalars_ : heddle_row_scalars(x->entry);
    const auto scalars = static_cast<std::size_t>(x->count * of_row);
    // The field of a system without rows may be null, which memcpy does not accept.
    if (scalars > 0)
      std::memcpy(y->data, x->data,
                  scalars * (x->precision == HEDDLE_SINGLE ? sizeof(float) : sizeof(double)));
    return session.bytes_.mostly(0);
  }
  void begin_settings() {
    heddle_settings_destroy(&settings_);
    check(heddle_settings_create(context_, &settings_));
  }
  /// Sets some settings of any name, if a byte says so.
  void maybe_set_any() {
    if (bytes_.next() < 240) return;
    for (int k = bytes_.below(4); k >= 0; --k) set_any();
  }
  void set(const char* name, const std::string& value) {
    check(heddle_settings_set(settings_, name, value.c_str()));
  }
  std::string any_text() {
    std::string text;
    for (int k = bytes_.below(12); k > 0; --k) text += static_cast<char>(bytes_.next());
    return text;
  }
  const std::string& one_of(const std::vector<std::string>& texts) {
    return texts[static_cast<std::size_t>(bytes_.next()) % texts.size()];
  }
  void set_any() {
    const std::string name = one_of(setting_names()), value = one_of(setting_values());
    switch (bytes_.below(8)) {
      case 0:
        set(name.c_str(), any_text());
        break;
      case 1:
        set(any_text().c_str(), value);
        break;
      case 2:
        check(heddle_settings_set_number(settings_, name.c_str(), (bytes_.next() - 100) / 4.0));
        break;
      case 3:
        check(heddle_settings_set(settings_, name.c_str(), nullptr));
        break;
      case 4:
        check(heddle_settings_set_json(
            settings_, ("{\"" + name + "\": \"" + value + "\", \"restart\": 4}").c_str()));
        break;
      case 5:
        check(heddle_settings_set_json(settings_,
                                       ("{\"" + name + "\": " + any_text() + "}").c_str()));
        break;
      default:
        set(name.c_str(), value);
    }
    expect_json_again();
  }
  /// Other settings must accept the JSON of these.
  void expect_json_again() {
    std::string text(heddle_settings_json(settings_, nullptr, 0), '\0');
    heddle_settings_json(settings_, text.data(), text.size() + 1);
    heddle_settings* other = nullptr;
    check(heddle_settings_create(context_, &other));
    if (heddle_settings_set_json(other, text.c_str()) != HEDDLE_OK) std::abort();
    heddle_settings_destroy(&other);
  }
  static int observe(void* user, const heddle_progress*) {
    Session& session = *static_cast<Session*>(user);
    heddle_view x{session.iterate_.data(), 0,          session.entry_, HEDDLE_DOUBLE,
                  HEDDLE_ROW_MAJOR,        HEDDLE_HOST};
    for (heddle_solver* const solver : session.solvers_) {
      for (x.count = 0; x.count < max_rows; ++x.count) heddle_solver_iterate(solver, &x);
    }
    return session.bytes_.mostly(0);
  }
  void make_solver() {
    static constexpr std::array<const char*, 12> methods{
        "cg",   "minres", "bicgstab", "bicgstab2", "gmres",      "fgmres",
        "cocg", "cocr",   "cr",       "chebyshev", "richardson", "none"};
    begin_settings();
    maybe_set_any();
    set("max_iterations", "20");
    const std::string restart = std::to_string(bytes_.mostly(5));
    set("record_history", bytes_.below(2) == 0 ? "false" : "true");
    check(heddle_settings_observe(settings_, observe, this));
    heddle_solver*& solver = any(solvers_);
    heddle_solver_destroy(&solver);
    // Bytes from 250 on select features newer than the kept inputs.
    const int byte = bytes_.next();
    if (byte >= 250) {
      const int lower = bytes_.below(3), upper = bytes_.below(5);
      if (upper > 0) set("interval", std::to_string(lower) + " " + std::to_string(upper));
      if (bytes_.below(2) == 1) set("omega", "1");
      if (bytes_.below(2) == 1) set("basis_precision", "single");
      if (byte == 253) set("field_precision", "single");
    }
    const std::string method =
        byte >= 254 ? "block-cg" : methods[static_cast<std::size_t>(byte % 12)];
    if (method == "gmres" || method == "fgmres") set("restart", restart);
    check(heddle_solver_create(any(operators_), method.c_str(), any(preconditioners_), settings_,
                               &solver));
  }
  void make_preconditioner() {
    static constexpr std::array<const char*, 9> texts{"none",           "direct",      "jacobi",
                                                      "block-jacobi:2", "chebyshev:2", "neumann",
                                                      "fsai",           "isai",        "gmres:2"};
    heddle_preconditioner*& made = any(preconditioners_);
    heddle_preconditioner_destroy(&made);
    const int byte = bytes_.next();
    if (byte >= 250) {
      heddle_operator* const A = any(operators_);
      begin_settings();
      maybe_set_any();
      check(heddle_settings_set_number(settings_, "strength", bytes_.below(5) / 4.0));
      check(heddle_settings_use_coordinates(settings_, bytes_.below(2) == 0 ? nullptr : a_.data()));
      const std::array<heddle_view, 2> fields{view(b_, static_cast<int>(rows_of(A))),
                                              view(c_, static_cast<int>(rows_of(A)))};
      check(heddle_settings_use_candidates(settings_, bytes_.below(3), fields.data()));
      if (bytes_.below(2) == 1) set("candidates", "adaptive");
      check(
          heddle_preconditioner_create(A, byte == 255 ? "jacobi" : "multigrid", settings_, &made));
    } else if (byte % 3 == 0) {
      check(heddle_preconditioner_from_callback(any(operators_), apply, this, bytes_.below(2),
                                                &made));
    } else {
      check(heddle_preconditioner_create(
          any(operators_), texts[static_cast<std::size_t>(bytes_.below(9))], nullptr, &made));
    }
  }
  void make_operator() {
    heddle_operator*& made = any(operators_);
    heddle_operator* fresh = nullptr;
    const int byte = bytes_.next();
    switch (byte >= 254 ? 4 : byte >= 250 ? 3 : byte >= 246 ? 0 : byte % 3) {
      case 0: {
        begin_settings();
        if (byte >= 246) set("storage", "hisparse");
        maybe_set_any();
        if (bytes_.below(8) == 0) set("node", std::to_string(bytes_.next()));
        const heddle_matrix* const matrix = any(matrices_);
        std::int64_t product = 0, total = 0;
        check(heddle_matrix_memory(matrix, settings_, &product, &total));
        check(heddle_operator_create(matrix, settings_, &fresh));
        break;
      }
      case 1:
        check(heddle_operator_adjoint(any(operators_), &fresh));
        break;
      case 3:
        check(heddle_operator_shifted(any(operators_), bytes_.below(5) - 2, &fresh));
        break;
      case 4:
        check(edited(&fresh));
        break;
      default:
        const int rows = bytes_.below(max_rows);
        check(heddle_operator_from_callbacks(context_, nullptr, rows, rows, entry_,
                                             bytes_.mostly(HEDDLE_DOUBLE), apply, apply, this,
                                             &fresh));
    }
    heddle_operator_destroy(&made);
    made = fresh;
  }
  heddle_status edited(heddle_operator** made) {
    const heddle_operator* const A = any(operators_);
    std::array<std::int64_t, 2> row{}, column{};
    for (std::int64_t& place : row) place = bytes_.below(max_rows);
    for (std::int64_t& place : column) place = bytes_.below(max_rows);
    heddle_pattern at{};
    at.struct_size = bytes_.mostly(sizeof at);
    at.rows = at.columns = rows_of(A);
    at.entries = bytes_.below(3);
    at.row = row.data();
    at.column = column.data();
    at.row_bits = at.column_bits = bytes_.mostly(64);
    heddle_pattern one = at;
    one.entries = bytes_.below(2);
    const heddle_view values{a_.data(),     at.entries,       entry_,
                             HEDDLE_DOUBLE, HEDDLE_ROW_MAJOR, HEDDLE_HOST};
    const bool adds = bytes_.below(2) == 1;
    const heddle_edits edits{bytes_.mostly(sizeof edits), adds ? nullptr : &at,
                             adds ? nullptr : &values,    adds ? &at : nullptr,
                             adds ? &values : nullptr,    &one};
    return heddle_operator_edited(A, &edits, made);
  }
  std::int64_t rows_of(const heddle_operator* A) const {
    std::int64_t rows = 0, columns = 0;
    check(heddle_operator_size(A, &rows, &columns));
    return rows;
  }
  void solve() {
    heddle_report report{};
    report.struct_size = bytes_.mostly(sizeof report);
    const auto rows = static_cast<int>(rows_of(any(operators_)));
    const heddle_view b = view(a_, rows), x = view(b_, rows);
    heddle_solver* const solver = any(solvers_);
    if (bytes_.below(8) == 0) {
      const std::array<heddle_view, 2> right{b, b}, left{x, view(c_, rows)};
      std::array<heddle_report, 2> reports{report, report};
      check(heddle_solver_solve_all(solver, bytes_.below(3), right.data(), left.data(),
                                    reports.data()));
      check(heddle_solver_set_null_space(solver, bytes_.below(3), left.data()));
      check(heddle_solver_enqueue(solver, &b, &x, nullptr, nullptr));
      check(heddle_solver_wait(solver, &report));
    }
    check(heddle_solver_solve(solver, &b, &x, &report));
    const double* history = nullptr;
    std::int64_t count = 0;
    check(heddle_solver_history(solver, &history, &count));
    for (std::int64_t i = 0; i < count; ++i) {
      if (history[i] < 0) std::abort();
    }
    heddle_solver_summary(solver, nullptr, 0);
    heddle_solver_detail(solver, 1, nullptr, 0);
  }
  void minimize(const heddle_operator* A, const heddle_view& b) {
    begin_settings();
    maybe_set_any();
    set("max_iterations", "20");
    check(heddle_settings_set_number(settings_, "damping", bytes_.mostly(0.0)));
    check(heddle_settings_observe(settings_, observe, this));
    heddle_least_squares* solver = nullptr;
    check(heddle_least_squares_create(A, settings_, &solver));
    std::int64_t rows = 0, columns = 0;
    check(heddle_operator_size(A, &rows, &columns));
    const heddle_view x = view(b_, static_cast<int>(columns));
    heddle_least_squares_report report{};
    report.struct_size = bytes_.mostly(sizeof report);
    check(heddle_least_squares_solve(solver, &b, &x, &report));
    check(heddle_operator_synchronize(A));
    heddle_least_squares_destroy(&solver);
  }
  void find_pairs(const heddle_operator* A, const heddle_view& first) {
    begin_settings();
    maybe_set_any();
    set("max_iterations", "20");
    check(heddle_settings_observe(settings_, observe, this));
    heddle_operator* mass = nullptr;
    if (bytes_.below(2) == 1) check(heddle_operator_create_mass(any(matrices_), A, &mass));
    const std::array<heddle_view, 2> x{first, view(c_, static_cast<int>(rows_of(A)))};
    std::array<double, 2> values{}, residuals{}, errors{};
    std::array<char, 40> detail{};
    heddle_eigen_report report{};
    report.struct_size = bytes_.mostly(sizeof report);
    check(heddle_eigen_solve(A, mass, any(preconditioners_), settings_, bytes_.below(3), x.data(),
                             values.data(), residuals.data(), errors.data(), detail.data(),
                             detail.size(), &report));
    check(heddle_operator_synchronize(A));
    heddle_operator_destroy(&mass);
  }
  void describe(const heddle_matrix* matrix, int byte) {
    begin_settings();
    set("node", std::to_string(byte % 64));
    if (byte % 5 == 0) set("scaling", "nvlink");
    char text[64];
    check(heddle_matrix_describe(matrix, settings_, text, sizeof text, nullptr));
  }
  void precondition(const heddle_view& r, const heddle_view& z) {
    heddle_preconditioner* const M = any(preconditioners_);
    void* const stream = bytes_.below(8) == 0 ? this : nullptr;
    switch (bytes_.below(4)) {
      case 0:
        check(heddle_preconditioner_update(M, stream));
        break;
      case 1:
        check(heddle_preconditioner_apply_adjoint(M, &r, &z, stream));
        break;
      default:
        check(heddle_preconditioner_apply(M, bytes_.below(8) == 0 ? &z : &r, &z, stream));
    }
  }
  void use() {
    heddle_operator* const A = any(operators_);
    const auto rows = static_cast<int>(rows_of(A));
    const heddle_view x = view(a_, rows), y = view(b_, rows);
    heddle_info info{};
    int64_t bytes = 0;
    info.struct_size = sizeof info;
    const char* method = nullptr;
    const int byte = bytes_.next();
    switch (byte == 255 ? 8 : byte >= 253 ? 7 : byte >= 250 ? 6 : byte % 6) {
      case 8:
        return find_pairs(A, x);
      case 6:
        return minimize(A, x);
      case 0:
        check(heddle_operator_apply(A, &x, &y));
        break;
      case 5:
        check(heddle_operator_copy(A, bytes_.below(4) == 0 ? nullptr : &x, &y));
        check(heddle_operator_wait_for(A, this));
        break;
      case 1:
        check(heddle_operator_update_values(A, &x));
        break;
      case 7:
        return precondition(x, y);
      case 2:
        check(heddle_matrix_update_values(any(matrices_), &x));
        break;
      case 3:
        check(heddle_matrix_info(any(matrices_), &info));
        check(heddle_matrix_memory(any(matrices_), nullptr, &bytes, nullptr));
        describe(any(matrices_), byte);
        break;
      default:
        check(heddle_choose_method(any(matrices_), A, "auto", &method));
    }
  }
  void step() {
    switch (bytes_.below(8)) {
      case 0:
        return assemble();
      case 1:
        return make_operator();
      case 2:
        return make_preconditioner();
      case 3:
        return make_solver();
      case 4:
      case 5:
        return solve();
      case 6:
        return use();
      default:
        heddle_matrix_destroy(&any(matrices_));
        heddle_operator_destroy(&any(operators_));
    }
  }

  Bytes bytes_;
  heddle_context* context_ = nullptr;
  heddle_entry entry_ = HEDDLE_REAL;
  std::int32_t entry_scalars_ = 1, row_scalars_ = 1;
  std::array<heddle_matrix*, slots> matrices_{};
  std::array<heddle_operator*, slots> operators_{};
  std::array<heddle_preconditioner*, slots> preconditioners_{};
  std::array<heddle_solver*, slots> solvers_{};
  std::array<double, 1024> iterate_{};
  heddle_settings* settings_ = nullptr;  // settings of the last call that takes them
  std::array<double, 1024> a_{}, b_{}, c_{};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  setenv("HEDDLE_NUM_THREADS", "1", 1);
  Session(Bytes(data, size)).run();
  return 0;
}
