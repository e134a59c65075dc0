// Which candidates count, and which is the best.
#include "records/record.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "synthetic_run.hpp"

namespace {

using namespace heddle::bench;

Candidate peer(double seconds) {
  Candidate candidate;
  candidate.library = "other";
  candidate.seconds = made_up::around(seconds);
  return candidate;
}

Record record_with(std::vector<Candidate> candidates, const std::string& precision = "double") {
  Record record;
  record.precision = precision;
  record.candidates = std::move(candidates);
  return record;
}

TEST(Record, TheBestPeerIsTheFastestWhoseResultIsRight) {
  Candidate wrong = peer(1), failed = peer(2), stagnated = peer(3), untimed = peer(4),
            right = peer(5), slow = peer(6), nobody_knows = peer(1);
  wrong.error = 1e-3;
  failed.failure = "refused";
  stagnated.status = "stagnated";
  untimed.seconds.reset();
  right.error = 1e-15;
  right.status = "converged";
  nobody_knows.error = std::numeric_limits<double>::quiet_NaN();
  Record record = record_with({slow, wrong, failed, stagnated, untimed, right, nobody_knows});
  ASSERT_NE(record.best_peer(), nullptr);
  EXPECT_EQ(record.best_peer()->seconds->median, 5);
  EXPECT_EQ(record_with({wrong, failed, stagnated, untimed}).best_peer(), nullptr);
}

TEST(Record, ErrorsAreHeldAgainstThePrecision) {
  Candidate candidate = peer(1);
  candidate.error = 1e-7;
  EXPECT_FALSE(is_right(record_with({}, "double"), candidate));
  EXPECT_TRUE(is_right(record_with({}, "single"), candidate));
}

TEST(Record, SpeedupsNeedBothToBeRight) {
  Candidate ours = peer(2);
  ours.role = Role::chosen;
  Record record = record_with({ours, peer(3)});
  EXPECT_DOUBLE_EQ(record.speedup(Role::chosen).value(), 1.5);
  EXPECT_FALSE(record.speedup(Role::best).has_value());
  record.candidates[0].error = 1;
  EXPECT_FALSE(record.speedup(Role::chosen).has_value());
  record.candidates[0].error.reset();
  record.candidates.pop_back();
  EXPECT_FALSE(record.speedup(Role::chosen).has_value());
}

TEST(Record, PlansThatWereTriedAreNoPeers) {
  Candidate tried = peer(1);
  tried.role = Role::tried;
  EXPECT_EQ(record_with({tried}).best_peer(), nullptr);
}

}  // namespace
