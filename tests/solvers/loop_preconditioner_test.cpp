// Which form of a loop on a GPU a preconditioner and a null space leave.
#include "solvers/loop_preconditioner.hpp"

#include <gtest/gtest.h>

namespace {

using namespace heddle;

/// As far as the choice of a loop sees it.
class Sample final : public Preconditioner<double> {
 public:
  Sample(bool is_diagonal, bool only_queues)
      : is_diagonal_(is_diagonal), only_queues_(only_queues) {}
  void apply(const FieldView<const double>&, const FieldView<double>&,
             const Stream&) const override {}
  bool only_queues() const override { return only_queues_; }
  cuda::Diagonal* diagonal_on_gpu() const override {
    // Only compared with null.
    return is_diagonal_ ? reinterpret_cast<cuda::Diagonal*>(const_cast<Sample*>(this)) : nullptr;
  }

 private:
  bool is_diagonal_, only_queues_;
};

TEST(FormOfLoop, IsThePlansWithoutPreconditioner) {
  for (const LoopForm form :
       {LoopForm::stepped, LoopForm::graph, LoopForm::replay, LoopForm::persistent}) {
    EXPECT_EQ(detail::form_of_loop<double>(form, nullptr, false), form);
    EXPECT_EQ(detail::form_of_loop<double>(form, nullptr, true), form);
  }
}

TEST(FormOfLoop, DiagonalsAreFusedWithoutNullSpace) {
  const Sample diagonal(true, false);
  for (const LoopForm form :
       {LoopForm::stepped, LoopForm::graph, LoopForm::replay, LoopForm::persistent}) {
    EXPECT_EQ(detail::form_of_loop<double>(form, &diagonal, false), form);
  }
  EXPECT_EQ(detail::form_of_loop<double>(LoopForm::graph, &diagonal, true), LoopForm::graph);
  EXPECT_EQ(detail::form_of_loop<double>(LoopForm::replay, &diagonal, true), LoopForm::replay);
  EXPECT_EQ(detail::form_of_loop<double>(LoopForm::persistent, &diagonal, true), LoopForm::graph);
  EXPECT_EQ(detail::form_of_loop<double>(LoopForm::stepped, &diagonal, true), LoopForm::stepped);
}

TEST(FormOfLoop, WorkOfOthersNeedsAGraphOrTheHost) {
  const Sample queues(false, true), waits(false, false);
  for (const bool has_null_space : {false, true}) {
    const auto form = [&](LoopForm planned, const Sample& preconditioner) {
      return detail::form_of_loop<double>(planned, &preconditioner, has_null_space);
    };
    EXPECT_EQ(form(LoopForm::graph, queues), LoopForm::graph);
    EXPECT_EQ(form(LoopForm::replay, queues), LoopForm::replay);
    EXPECT_EQ(form(LoopForm::persistent, queues), LoopForm::graph);
    EXPECT_EQ(form(LoopForm::stepped, queues), LoopForm::stepped);
    for (const LoopForm planned :
         {LoopForm::stepped, LoopForm::graph, LoopForm::replay, LoopForm::persistent}) {
      EXPECT_EQ(form(planned, waits), LoopForm::stepped);
    }
  }
}

}  // namespace
