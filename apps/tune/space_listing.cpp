#include "space_listing.hpp"

#include <algorithm>
#include <cstdio>

#include "amounts.hpp"
#include "text_table.hpp"

namespace heddle::tuning {

namespace {

/// All digits of a number below 1e9, otherwise a power of ten.
std::string readable_size(double combinations) {
  constexpr double exact = 1e9;
  if (combinations < exact) return report::readable_count(static_cast<long long>(combinations));
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", combinations);
  return text;
}

void print_axes(const SearchSpace& space, std::ostream& out) {
  std::size_t widest = 0;
  for (const Axis& axis : space.axes()) widest = std::max(widest, report::width(axis.name));
  for (const Axis& axis : space.axes()) {
    std::string line = "  " + axis.name + std::string(widest - report::width(axis.name) + 1, ' ');
    for (const std::string& choice : axis.choices) line += " " + choice;
    out << report::wrapped(line, widest + 4);
  }
}

nlohmann::ordered_json axes_json(const SearchSpace& space) {
  auto axes = nlohmann::ordered_json::array();
  for (const Axis& axis : space.axes()) {
    axes.push_back({{"name", axis.name}, {"choices", axis.choices}});
  }
  return axes;
}

}  // namespace

void print_spaces(const TuningSubject& subject, const DeviceProperties& device,
                  const std::string& matrix, std::ostream& out) {
  const SearchSpace papers = SearchSpace::papers(subject, device);
  const SearchSpace whole = SearchSpace::whole(subject, device);
  out << report::wrapped("device     " + device.name, 11)
      << report::wrapped("matrix     " + matrix, 11) << "objective  " << name(subject.objective)
      << "\n\n"
      << "--search full measures "
      << report::readable_count(static_cast<long long>(papers.plans().size()))
      << " plans, the valid ones of " << readable_size(papers.combinations())
      << " combinations of\n";
  print_axes(papers, out);
  out << "\n--search pruned looks for the best of " << readable_size(whole.combinations())
      << " combinations of\n";
  print_axes(whole, out);
}

nlohmann::ordered_json spaces_json(const TuningSubject& subject, const DeviceProperties& device,
                                   const std::string& matrix) {
  const SearchSpace papers = SearchSpace::papers(subject, device);
  const SearchSpace whole = SearchSpace::whole(subject, device);
  return {{"device", device.name},
          {"matrix", matrix},
          {"objective", name(subject.objective)},
          {"full",
           {{"plans", papers.plans().size()},
            {"combinations", papers.combinations()},
            {"axes", axes_json(papers)}}},
          {"pruned", {{"combinations", whole.combinations()}, {"axes", axes_json(whole)}}}};
}

}  // namespace heddle::tuning
