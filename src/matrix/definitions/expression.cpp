#include "expression.hpp"

#include <charconv>
#include <cmath>

#include "heddle/error.hpp"
#include "heddle/tools/text.hpp"

namespace heddle::detail {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

class Parser {
 public:
  Parser(std::string_view text, const std::vector<Operand>& operands, FormulaBuilder& builder)
      : text_(text), operands_(operands), builder_(builder) {}

  Value whole() {
    const Value value = expression();
    if (!at_end()) refuse("an operator or the end");
    return value;
  }

 private:
  /// Nesting of parentheses and signs: shallow in any formula, and each level takes stack.
  static constexpr int max_levels = 64;

  Value expression() {
    Value sum = term();
    for (;;) {
      if (take('+')) {
        sum = builder_.add(sum, term());
      } else if (take('-')) {
        sum = builder_.subtract(sum, term());
      } else {
        return sum;
      }
    }
  }

  Value term() {
    Value product = factor();
    for (;;) {
      if (take('*')) {
        product = builder_.multiply(product, factor());
      } else if (take('/')) {
        product = builder_.divide(product, factor());
      } else {
        return product;
      }
    }
  }

  Value factor() {
    if (++level_ > max_levels) {
      fail(at_, "more than " + std::to_string(max_levels) +
                    " nested signs and parentheses; simplify the expression");
    }
    const Value value = primary();
    --level_;
    return value;
  }

  Value primary() {
    if (take('-')) return builder_.negate(factor());
    if (take('+')) return factor();
    if (take('(')) return closed(expression());
    if (at_end()) refuse("a number or a member");
    if (is_digit(text_[at_]) || text_[at_] == '.') return number();
    if (!is_letter(text_[at_])) refuse("a number or a member");
    const std::size_t begin = at_;
    const std::string_view name = word();
    if (name == "conj" && take('(')) return builder_.conjugate(closed(expression()));
    for (const Operand& operand : operands_) {
      if (operand.name == name) return member_of(operand);
    }
    std::string known;
    for (const Operand& operand : operands_) known += " " + operand.name + ".member";
    fail(begin,
         io::in_quotes(name) + " is unknown; expected a number, conj(...) or one of" + known);
  }

  Value closed(Value value) {
    if (!take(')')) refuse("')' or an operator");
    return value;
  }

  Value number() {
    double value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, failed] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (failed == std::errc::result_out_of_range)
      fail(at_, "the number is out of a double's range");
    if (failed != std::errc()) refuse("a number");
    at_ += static_cast<std::size_t>(end - begin);
    return builder_.number(value);
  }

  Value member_of(const Operand& operand) {
    if (!take('.')) refuse("'.' and a member of " + operand.name);
    skip_space();
    const std::size_t begin = at_;
    const std::string_view name = word();
    for (const Member& member : *operand.members) {
      if (member.name != name) continue;
      const Value value = builder_.operand(operand.load, member.first, member.is_complex);
      return member.is_complex && take('.') ? part_of(value) : value;
    }
    std::string known;
    for (const Member& member : *operand.members) known += " " + member.name;
    fail(begin,
         io::in_quotes(name) + " is not a member of " + operand.name + "; there are" + known);
  }

  Value part_of(Value value) {
    skip_space();
    const std::size_t begin = at_;
    const std::string_view part = word();
    if (part == "re") return {value.re, Value::none};
    if (part == "im") return {value.im, Value::none};
    fail(begin, io::in_quotes(part) + " is not a part of a complex number; there are re im");
  }

  std::string_view word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || (at_ > begin && is_digit(text_[at_])))) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }
  bool take(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  [[noreturn]] void refuse(const std::string& expected) {
    if (at_end()) fail(at_, "the expression ends where " + expected + " is expected");
    fail(at_, io::in_quotes(text_.substr(at_, 1)) + " where " + expected + " is expected");
  }
  [[noreturn]] void fail(std::size_t at, const std::string& what) const {
    throw Error(ErrorKind::malformed_file, "column " + std::to_string(at + 1) + ": " + what);
  }

  std::string_view text_;
  const std::vector<Operand>& operands_;
  FormulaBuilder& builder_;
  std::size_t at_ = 0;
  int level_ = 0;
};

}  // namespace

Value parse_expression(std::string_view text, const std::vector<Operand>& operands,
                       FormulaBuilder& builder) {
  return Parser(text, operands, builder).whole();
}

}  // namespace heddle::detail
