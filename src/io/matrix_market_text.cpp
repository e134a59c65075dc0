#include "matrix_market_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>

#include "base/text/readable.hpp"
#include "heddle/device.hpp"
#include "heddle/tools/team.hpp"
#include "heddle/tools/text.hpp"
#include "matrix_market_line.hpp"

namespace heddle::io {

namespace {

/// Turns lines into entries; one for each thread.
template <bool Coordinate, int Scalars>
class LineReader {
 public:
  explicit LineReader(const Header& header)
      : header_(header),
        triangle_(header.symmetry != Symmetry::general),
        integers_(header.holds_integers()) {}

  Piece operator()(const Block& block) const {
    Piece piece;
    piece.sequence = block.sequence;
    const std::string_view text = block.lines();
    const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    if (Coordinate) {
      piece.row.resize(lines);
      piece.column.resize(lines);
    }
    piece.values.resize(lines * Scalars);
    const char* const end = text.data() + text.size();
    std::size_t n = 0;
    for (const char* p = text.data(); p != end; ++p, ++piece.lines) {
      const char* const begin = p;
      p = skip_blanks(p);
      if (*p == '%' || *p == '\n') {
        add_line_without_entry(piece);
        p = line_end(p, end);
        continue;
      }
      p = read_entry(p, end, piece, n);
      if (p == nullptr) {
        piece.fault = fault_of(begin, end, piece.lines + 1);
        break;
      }
      ++n;
    }
    piece.entries = static_cast<long long>(n);
    const bool is_mostly_blank = n < lines / 2;
    const auto cut = [&](auto& numbers, std::size_t size) {
      numbers.resize(size);
      if (is_mostly_blank) numbers.shrink_to_fit();
    };
    if (Coordinate) {
      cut(piece.row, n);
      cut(piece.column, n);
    }
    cut(piece.values, n * Scalars);
    return piece;
  }

 private:
  static void add_line_without_entry(Piece& piece) {
    auto& runs = piece.lines_without_entry;
    if (runs.empty() || runs.back().first + runs.back().second != piece.lines) {
      runs.emplace_back(piece.lines, 0);
    }
    ++runs.back().second;
  }

  static const char* line_end(const char* p, const char* end) {
    return static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
  }

  LineFault fault_of(const char* begin, const char* end, long long line) const {
    try {
      explain_line({begin, line_end(begin, end)}, header_);
    } catch (const Error& error) {
      return {error, line};
    }
  }

  /// Returns the end of the line, or nullptr if anything is malformed.
  const char* read_entry(const char* p, const char* end, Piece& piece, std::size_t n) const {
    if constexpr (Coordinate) {
      Offset row = 0, column = 0;
      p = read_index(p, row);
      if (p == nullptr || !is_blank(*p)) return nullptr;
      p = read_index(skip_blanks(p), column);
      if (p == nullptr || (Scalars > 0 && !is_blank(*p))) return nullptr;
      if (row < 1 || row > header_.rows || column < 1 || column > header_.columns) return nullptr;
      piece.row[n] = static_cast<Index>(row - 1);
      piece.column[n] = static_cast<Index>(column - 1);
    }
    double* const value = piece.values.data() + n * Scalars;
    for (int k = 0; k < Scalars; ++k) {
      p = read_double(skip_blanks(p), end, value[k]);
      if (p == nullptr || !std::isfinite(value[k])) return nullptr;
      if (k + 1 < Scalars && !is_blank(*p)) return nullptr;
      if (integers_ && !is_integer_of_field(value[k])) return nullptr;
    }
    p = skip_blanks(p);
    if (*p != '\n') return nullptr;
    if (Coordinate && triangle_) {
      const Index row = piece.row[n], column = piece.column[n];
      const auto entry = static_cast<long long>(n);
      if (row > column) {
        if (piece.first_lower < 0) piece.first_lower = entry;
      } else if (row < column) {
        if (piece.first_upper < 0) piece.first_upper = entry;
      } else if (!may_stand_on_diagonal(value)) {
        return nullptr;
      }
    }
    return p;
  }

  bool is_integer_of_field(double value) const {
    const bool has_sign = header_.field == NumberField::unsigned_integer && value < 0;
    return value == std::trunc(value) && !has_sign;
  }

  /// True if the value may stand on the diagonal of a triangle.
  bool may_stand_on_diagonal([[maybe_unused]] const double* value) const {
    if constexpr (Scalars > 0) {
      if (header_.symmetry == Symmetry::skew_symmetric && value[0] != 0) return false;
      return header_.symmetry == Symmetry::symmetric || Scalars == 1 || value[Scalars - 1] == 0;
    }
    return true;
  }

  const Header& header_;
  bool triangle_, integers_;
};

/// Reads blocks with a team; the earliest fault in the text wins, as it would with one thread.
class TextReader {
 public:
  TextReader(const std::string& name, std::unique_ptr<ByteSource> source, Progress* progress,
             const Contents& contents, std::size_t block_bytes)
      : name_(name), blocks_(std::move(source), block_bytes, progress), contents_(contents) {}

  MatrixMarketText operator()(int threads) {
    read_header();
    check_header();
    check_memory();
    limit_text();
    if (blocks_.at_end()) threads = 1;  // one block is no work for a team
    const auto read_as = [&](auto coordinate) {
      const int scalars = text_.header.scalars();
      constexpr bool c = decltype(coordinate)::value;
      if (scalars == 0) read_body(LineReader<c, 0>(text_.header), threads);
      if (scalars == 1) read_body(LineReader<c, 1>(text_.header), threads);
      if (scalars == 2) read_body(LineReader<c, 2>(text_.header), threads);
    };
    text_.header.is_array ? read_as(std::false_type()) : read_as(std::true_type());
    std::sort(text_.pieces.begin(), text_.pieces.end(),
              [](const Piece& a, const Piece& b) { return a.sequence < b.sequence; });
    if (other_) std::rethrow_exception(other_);
    check_lines();
    if (text_.header.symmetry != Symmetry::general) check_triangle();
    return std::move(text_);
  }

 private:
  void read_header() {
    HeaderReader reader;
    blocks_.limit(spare_text, "64 MiB without a size line");
    try {
      for (;;) {
        if (!blocks_.next(first_)) reader.end_of_text();
        for (std::size_t& at = first_.begin; at != first_.end;) {
          const std::string_view rest = first_.lines();
          const std::size_t length = rest.find('\n');
          at += length + 1;
          if (reader.take(rest.substr(0, length))) {
            text_.header = reader.header();
            return;
          }
        }
      }
    } catch (const Error& error) {
      throw_at(std::max(reader.header().lines, 1LL), error);
    }
  }

  void check_header() const {
    try {
      contents_.check(text_.header);
    } catch (const Error& error) {
      throw_at(1, error);
    }
  }

  /// Throws unless memory suffices for what the size line promises and the file can hold.
  void check_memory() const {
    const Header& header = text_.header;
    const double numbers = header.scalars();
    const double shortest_line = (header.is_array ? 0 : 4) + 2 * numbers;  // "1 1 1\n"
    const double bytes_of_entry =
        (header.is_array ? 0 : 2 * sizeof(Index)) + numbers * sizeof(double);
    const double most = blocks_.max_bytes();
    auto entries = static_cast<double>(header.entries);
    if (most >= 0) entries = std::min(entries, most / shortest_line);
    const auto needed = static_cast<long long>(entries * bytes_of_entry);
    constexpr long long worth_a_look = 64LL << 20;
    if (needed < worth_a_look) return;
    const long long available = Device::cpu(1).available_memory();
    if (needed <= available) return;
    throw_at(header.lines,
             Error(ErrorKind::memory, std::to_string(header.entries) + " entries take at least " +
                                          readable_bytes(needed) + ", available are " +
                                          readable_bytes(available)));
  }

  void limit_text() {
    constexpr double longest_usual_line = 256;
    const Header& header = text_.header;
    blocks_.limit(spare_text * 2 + longest_usual_line * static_cast<double>(header.entries),
                  "more than 64 MiB of blank lines, comments and spaces for the " +
                      std::to_string(header.entries) + " entries that line " +
                      std::to_string(header.lines) + " promises");
  }

  template <class Reader>
  void read_body(const Reader& read_lines, int threads) {
    parallel_for(threads, threads, 1, [&](int reader) {
      Block block;
      bool some = reader == 0;
      if (some) std::swap(block, first_);
      try {
        if (some && block.begin == block.end) some = false;
        while (some || blocks_.next(block)) {
          some = false;
          Piece piece = read_lines(block);
          if (!piece.fault) contents_.prepare(text_.header, piece);
          keep(std::move(piece));
        }
      } catch (const Error& error) {  // an error of the source: the text ends here
        Piece piece;
        piece.sequence = block.sequence;
        piece.fault = {error, 1};
        keep(std::move(piece));
      } catch (...) {
        blocks_.stop();
        const std::lock_guard lock(mutex_);
        other_ = std::current_exception();
      }
    });
  }

  /// No thread reads on after a fault, or after an entry too many.
  void keep(Piece piece) {
    const std::lock_guard lock(mutex_);
    entries_ += piece.entries;
    if (piece.fault || entries_ > text_.header.entries) blocks_.stop();
    text_.pieces.push_back(std::move(piece));
  }

  /// Number of lines before a block; all the blocks before it have been read.
  long long line_before(long long sequence) const {
    long long lines = text_.header.lines;
    for (const Piece& piece : text_.pieces) {
      if (piece.sequence < sequence) lines += piece.lines;
    }
    return lines;
  }

  long long line_of(const Piece& piece, long long entry) const {
    long long line = entry;
    for (const auto& [first, count] : piece.lines_without_entry) line += first <= line ? count : 0;
    return line_before(piece.sequence) + line + 1;
  }

  /// The earliest line that is wrong wins, whether it is an entry too many or no entry.
  void check_lines() const {
    const Offset promised = text_.header.entries;
    Offset entries = 0;
    for (const Piece& piece : text_.pieces) {
      if (entries + piece.entries > promised) {
        throw_at(line_of(piece, promised - entries),
                 Error(ErrorKind::malformed_file,
                       "one entry more than the " + std::to_string(promised) + " that line " +
                           std::to_string(text_.header.lines) + " promises"));
      }
      entries += piece.entries;
      if (piece.fault)
        throw_at(line_before(piece.sequence) + piece.fault->line, piece.fault->error);
    }
    if (entries == promised) return;
    throw_at(line_before(text_.pieces.empty() ? 0 : text_.pieces.back().sequence + 1),
             Error(ErrorKind::malformed_file, "the file ends after " + std::to_string(entries) +
                                                  " of " + std::to_string(promised) + " entries"));
  }

  void check_triangle() const {
    long long lower = -1, upper = -1;
    for (const Piece& piece : text_.pieces) {
      if (lower < 0 && piece.first_lower >= 0) lower = line_of(piece, piece.first_lower);
      if (upper < 0 && piece.first_upper >= 0) upper = line_of(piece, piece.first_upper);
    }
    if (lower < 0 || upper < 0) return;
    const bool upper_is_late = upper > lower;
    throw_at(
        std::max(lower, upper),
        Error(ErrorKind::malformed_file,
              std::string("an entry ") + (upper_is_late ? "above" : "below") +
                  " the diagonal, though line " + std::to_string(std::min(lower, upper)) +
                  " has one " + (upper_is_late ? "below" : "above") + ": a " +
                  std::string(symmetry_names[static_cast<std::size_t>(text_.header.symmetry)]) +
                  " file stores one triangle"));
  }

  [[noreturn]] void throw_at(long long line, const Error& error) const {
    throw Error(error.kind(), name_ + ":" + std::to_string(line) + ": " + error.what());
  }

  /// Bytes of text without entries, before the sizes and after them.
  static constexpr double spare_text = 64 << 20;

  std::string name_;
  LineBlocks blocks_;
  Contents contents_;
  Block first_;
  MatrixMarketText text_;
  Offset entries_ = 0;  // read so far
  std::mutex mutex_;
  std::exception_ptr other_;
};

}  // namespace

MatrixMarketText read_text(const std::string& name, std::unique_ptr<ByteSource> source, int threads,
                           Progress* progress, const Contents& contents, std::size_t block_bytes) {
  return TextReader(name, std::move(source), progress, contents, block_bytes)(threads);
}

}  // namespace heddle::io
