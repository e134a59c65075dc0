// Profiles: the merging of two, and the record that answers for a matrix.
#include "heddle/tuning/profile.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heddle/version.hpp"
#include "support/tuning/profiles.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;
using Kind = ProfileMatch::Kind;

TEST(Profile, OfADeviceIsEmpty) {
  const Profile profile = Profile::of(Device::cpu(2));
  EXPECT_EQ(profile.device, properties_of(Device::cpu(2)));
  EXPECT_EQ(profile.version, version);
  EXPECT_EQ(profile.kernels.size(), 32u);
  EXPECT_GT(profile.ceilings.memory, 0);
  EXPECT_TRUE(profile.records.empty());
  EXPECT_TRUE(profile.domains.empty());
}

// ---- merging ----

TEST(MergedProfiles, HoldWhatBothKnowAndTheNewerOfWhatIsTheSame) {
  Profile old_one = some_profile(), new_one = some_profile();
  old_one.records = {some_record("a", "a", "C=4"), some_record("b", "b", "C=8")};
  ProfileRecord by_product = some_record("b", "b", "C=16");
  by_product.objective = Objective::product();
  ProfileRecord in_single = some_record("b", "b", "C=24");
  in_single.precision = "single";
  ProfileRecord of_complex = some_record("b", "b", "C=64");
  of_complex.entry = "complex";
  new_one.records = {some_record("b, renamed", "b", "C=32"), some_record("c", "c", "C=2"),
                     by_product, in_single, of_complex};
  old_one.domains = {some_domain("surfaces", "C=4", {"a"}), some_domain("solids", "C=8", {"b"})};
  new_one.domains = {some_domain("surfaces", "C=32", {"b", "c"})};
  new_one.version = "0.2.0";
  new_one.kernels = some_fingerprint("beef");
  new_one.ceilings.memory = 2e10;
  new_one.device.threads = 7;

  old_one.merge(new_one);
  const std::vector<ProfileRecord> records = {some_record("a", "a", "C=4"),
                                              new_one.records[0],
                                              new_one.records[1],
                                              by_product,
                                              in_single,
                                              of_complex};
  EXPECT_EQ(old_one.records, records);
  const std::vector<DomainRecord> domains = {some_domain("surfaces", "C=32", {"b", "c"}),
                                             some_domain("solids", "C=8", {"b"})};
  EXPECT_EQ(old_one.domains, domains);
  EXPECT_EQ(old_one.version, "0.2.0");
  EXPECT_EQ(old_one.kernels, new_one.kernels);
  EXPECT_EQ(old_one.ceilings, new_one.ceilings);
  EXPECT_EQ(old_one.device, new_one.device);
  const Profile once = old_one;
  old_one.merge(new_one);
  EXPECT_EQ(old_one, once);
}

TEST(MergedProfiles, AreOfOneDevice) {
  Profile profile = some_profile(), foreign = some_profile();
  profile.records = {some_record("a", "a", "C=4")};
  foreign.records = {some_record("b", "b", "C=4")};
  foreign.device = some_gpu();
  const Profile before = profile;
  try {
    profile.merge(foreign);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_plan);
    EXPECT_STREQ(error.what(),
                 "profiles of different devices cannot be merged: the other: it is for a GPU");
  }
  EXPECT_EQ(profile, before);
}

// ---- finding ----

PlanQuery query_for(const std::string& digits, Index rows = 10000) {
  return {"quaternion", "double", parse_objective("cg"), some_fingerprint(digits),
          some_features(rows)};
}

TEST(Find, TakesTheSamePatternBeforeADomainBeforeTheNearest) {
  Profile profile = some_profile();
  EXPECT_FALSE(find(profile, query_for("a")).has_value());
  profile.records = {some_record("far", "f", "C=2", 15000), some_record("near", "e", "C=4", 11000)};
  auto match = find(profile, query_for("a"));
  ASSERT_TRUE(match.has_value());
  EXPECT_EQ(match->kind, Kind::nearest);
  EXPECT_EQ(match->matrix, "near");
  EXPECT_EQ(match->plan, parse_plan("C=4"));
  EXPECT_EQ(match->distance, distance(some_features(10000), some_features(11000)));

  profile.domains = {some_domain("far away", "C=64", {"f"})};
  match = find(profile, query_for("a"));
  EXPECT_EQ(match->kind, Kind::domain);
  EXPECT_EQ(match->matrix, "far away");
  EXPECT_EQ(match->plan, parse_plan("C=64"));
  EXPECT_EQ(match->distance, distance(some_features(10000), some_features(15000)));
  profile.domains.push_back(some_domain("close", "C=32", {"f", "e"}));
  EXPECT_EQ(find(profile, query_for("a"))->matrix, "close");

  // However far away its features claim to be.
  profile.records.push_back(some_record("itself", "a", "C=8", 1000000));
  match = find(profile, query_for("a"));
  EXPECT_EQ(match->kind, Kind::same_pattern);
  EXPECT_EQ(match->matrix, "itself");
  EXPECT_EQ(match->distance, 0);
  EXPECT_FALSE(find_same_pattern(profile, query_for("")).has_value());
  PlanQuery without = query_for("a");
  without.fingerprint.clear();
  EXPECT_EQ(find(profile, without)->matrix, "close");
  EXPECT_EQ(find_similar(profile, query_for("a"))->matrix, "close");
}

TEST(Find, LooksNoFartherThanItShould) {
  Profile profile = some_profile();
  profile.records = {some_record("a", "a", "C=4", 1000)};
  profile.domains = {some_domain("domain", "C=8", {"a"})};
  EXPECT_TRUE(find(profile, query_for("b", 2000)).has_value());
  EXPECT_TRUE(find(profile, query_for("b", 500)).has_value());
  EXPECT_FALSE(find(profile, query_for("b", 4200)).has_value());
  EXPECT_FALSE(find(profile, query_for("b", 230)).has_value());
  profile.domains.clear();
  EXPECT_FALSE(find(profile, query_for("b", 4200)).has_value());
  // A domain without records is near nothing.
  profile.records.clear();
  profile.domains = {some_domain("domain", "C=8", {})};
  EXPECT_FALSE(find(profile, query_for("b", 1000)).has_value());
}

TEST(Find, PrefersPredictionsToRecordsOfAnotherSize) {
  Profile profile = some_profile();
  profile.records = {some_record("close", "b", "loop=graph", 13000),
                     some_record("larger", "c", "loop=graph", 20000),
                     some_record("smaller", "d", "loop=persistent", 4000)};
  PlanQuery query = query_for("a");
  const auto nearest = [&] { return find(profile, query)->matrix; };
  EXPECT_EQ(nearest(), "close");
  query.predicted = parse_plan("loop=persistent");
  EXPECT_EQ(nearest(), "close");
  profile.records.erase(profile.records.begin());
  EXPECT_FALSE(find(profile, query).has_value());
  query.objective = Objective::product();
  EXPECT_FALSE(find(profile, query).has_value());
  query.objective = parse_objective("cg");
  // A domain is for all sizes, and its measured plan stands.
  profile.records = {some_record("larger", "c", "loop=graph", 20000)};
  profile.domains = {some_domain("domain", "loop=graph", {"c"})};
  EXPECT_EQ(nearest(), "domain");
  // The same for the part of its plan that does not depend on size.
  profile.domains[0].use = DomainUse::storage;
  EXPECT_EQ(find(profile, query)->plan.loop.form, LoopForm::persistent);
  EXPECT_EQ(find(profile, query)->use, DomainUse::storage);
  PlanQuery blind = query;
  blind.predicted.reset();
  EXPECT_EQ(find(profile, blind)->matrix, "larger");
  profile.domains.clear();
  profile.records.push_back(some_record("itself", "a", "loop=graph", 10000));
  EXPECT_EQ(nearest(), "itself");
}

TEST(PlanOfDomain, TakesWhatGoesByNoSize) {
  for (const char* use : {"plan", "storage", "order", "predicted"}) {
    EXPECT_EQ(name(parse_domain_use(use)), use);
  }
  EXPECT_THROW(parse_domain_use("layout"), Error);
  const Plan plan = parse_plan("C=64,T=8,order=rcm,inner=aosoa16,vector=soa,threads=512");
  const Plan predicted = parse_plan("C=32,sigma=n,T=2,columns=given,threads=128");
  EXPECT_EQ(plan_of_domain(plan, DomainUse::plan, predicted), plan);
  EXPECT_EQ(plan_of_domain(plan, DomainUse::predicted, predicted), predicted);
  EXPECT_EQ(plan_of_domain(plan, DomainUse::storage, predicted),
            parse_plan("C=32,sigma=n,T=2,order=rcm,inner=aosoa16,vector=soa,threads=128"));
  EXPECT_EQ(plan_of_domain(plan, DomainUse::order, predicted),
            parse_plan("C=32,sigma=n,T=2,order=rcm,threads=128"));
}

TEST(Find, KeepsEntriesAndPrecisionsApart) {
  Profile profile = some_profile();
  profile.records = {some_record("a", "a", "C=4")};
  profile.domains = {some_domain("domain", "C=8", {"a"})};
  PlanQuery query = query_for("a");
  query.entry = "complex";
  EXPECT_FALSE(find(profile, query).has_value());
  query = query_for("a");
  query.precision = "single";
  EXPECT_FALSE(find(profile, query).has_value());
}

TEST(Find, PrefersItsOwnObjectiveAmongEquals) {
  Profile profile = some_profile();
  ProfileRecord by_product = some_record("a", "a", "C=4");
  by_product.objective = Objective::product();
  profile.records = {by_product, some_record("a", "a", "C=8")};
  PlanQuery query = query_for("a");
  EXPECT_EQ(find(profile, query)->plan, parse_plan("C=8"));
  EXPECT_EQ(find(profile, query)->objective, parse_objective("cg"));
  query.objective = Objective::product();
  EXPECT_EQ(find(profile, query)->plan, parse_plan("C=4"));
  query.objective = parse_objective("bicgstab");
  EXPECT_EQ(find(profile, query)->plan, parse_plan("C=4"));

  // A record of another objective is better than none, but worse than a farther one of the query's.
  query = query_for("b", 10500);
  profile.records = {by_product};
  EXPECT_EQ(find(profile, query)->objective, Objective::product());
  profile.records = {by_product, some_record("c", "c", "C=8", 20000)};
  EXPECT_EQ(find(profile, query)->matrix, "c");
}

}  // namespace
