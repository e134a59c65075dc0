// The loop forms on a GPU that a preconditioner and a null space allow.
#include "solvers/gpu_loops/loop_preconditioner.hpp"

#include <gtest/gtest.h>

namespace {

using namespace heddle;

class Rows final : public cuda::RowPreconditioner {
 public:
  explicit Rows(bool is_diagonal) : is_diagonal_(is_diagonal) {}
  EntryText text() const override { return {}; }
  const void* data() const override { return nullptr; }
  void apply(const void*, void*, const Stream&, const device::LoopState*, bool) const override {}
  const void* inverses() const override { return is_diagonal_ ? this : nullptr; }

 private:
  bool is_diagonal_;
};

/// A preconditioner, as far as the choice of a loop depends on it.
class Sample final : public Preconditioner<double> {
 public:
  explicit Sample(bool is_capturable, const Rows* rows = nullptr)
      : is_capturable_(is_capturable), rows_(rows) {}
  void apply(const FieldView<const double>&, const FieldView<double>&,
             const Stream&) const override {}
  bool is_capturable() const override { return is_capturable_; }
  const cuda::RowPreconditioner* rows_on_gpu() const override { return rows_; }

 private:
  bool is_capturable_;
  const Rows* rows_;
};

TEST(FormOfLoop, IsThePlansWithoutPreconditioner) {
  for (const LoopForm form :
       {LoopForm::stepped, LoopForm::graph, LoopForm::replay, LoopForm::persistent}) {
    EXPECT_EQ(detail::form_of_loop<double>(form, nullptr, false), form);
    EXPECT_EQ(detail::form_of_loop<double>(form, nullptr, true), form);
  }
}

TEST(FormOfLoop, DiagonalsAreFusedWithoutNullSpace) {
  const Rows rows(true);
  const Sample diagonal(true, &rows);
  for (const LoopForm form :
       {LoopForm::stepped, LoopForm::graph, LoopForm::replay, LoopForm::persistent}) {
    EXPECT_EQ(detail::form_of_loop<double>(form, &diagonal, false), form);
  }
  EXPECT_EQ(detail::form_of_loop<double>(LoopForm::graph, &diagonal, true), LoopForm::graph);
  EXPECT_EQ(detail::form_of_loop<double>(LoopForm::replay, &diagonal, true), LoopForm::replay);
  EXPECT_EQ(detail::form_of_loop<double>(LoopForm::persistent, &diagonal, true), LoopForm::graph);
  EXPECT_EQ(detail::form_of_loop<double>(LoopForm::stepped, &diagonal, true), LoopForm::stepped);
}

TEST(FormOfLoop, OneKernelTakesNoOtherRowsThanDiagonals) {
  const Rows rows(false);
  const Sample weights(true, &rows);
  for (const LoopForm form : {LoopForm::stepped, LoopForm::graph, LoopForm::replay}) {
    EXPECT_EQ(detail::form_of_loop<double>(form, &weights, false), form);
  }
  for (const bool has_null_space : {false, true}) {
    EXPECT_EQ(detail::form_of_loop<double>(LoopForm::persistent, &weights, has_null_space),
              LoopForm::graph);
  }
}

TEST(FormOfLoop, WorkOfOthersNeedsAGraphOrTheHost) {
  const Sample queues(true), waits(false);
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
