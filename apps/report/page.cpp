#include "page.hpp"

#include "amounts.hpp"
#include "svg_drawing.hpp"
#include "svg_scale.hpp"

namespace heddle::report {

namespace {

// Colours of Okabe and Ito (2008), darker on white and lighter on black so that each has a contrast
// of 3 to 1 or more; dashes and marks distinguish the series too. Heat is viridis (Smith and van
// der Walt 2015), whose lightness changes evenly; the least value is the brightest.
constexpr const char* style = R"(
:root{--paper:#ffffff;--ink:#1b1f24;--faint:#59636e;--rule:#d8dee4;--band:#f4f6f8;--warn:#a33a00;
--c1:#0072b2;--c2:#c8500a;--c3:#00845f;--c4:#a8478a;--c5:#8a6d00;--c6:#2f6fdd}
@media (prefers-color-scheme:dark){:root{--paper:#14171a;--ink:#e6e9ec;--faint:#9aa5b1;
--rule:#343b43;--band:#1c2126;--warn:#ff9d66;
--c1:#56b4e9;--c2:#f0883e;--c3:#2fc79a;--c4:#e39bc8;--c5:#e8c547;--c6:#8fa8ff}}
*{box-sizing:border-box}
body{margin:0 auto;padding:24px;max-width:1240px;background:var(--paper);color:var(--ink);
font:15px/1.5 system-ui,"Segoe UI","DejaVu Sans",sans-serif}
h1{font-size:26px;line-height:1.25;margin:0 0 12px}h2{font-size:20px;margin:40px 0 8px;padding-top:12px;
border-top:1px solid var(--rule)}h3{font-size:16px;margin:24px 0 6px}
p{margin:6px 0 12px;max-width:80ch}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px;margin:0}
dt{color:var(--faint)}dd{margin:0;overflow-wrap:anywhere}
code{font:13px/1.4 ui-monospace,"DejaVu Sans Mono",monospace;overflow-wrap:anywhere}
nav a{color:var(--c1);margin-right:16px;white-space:nowrap}
svg{display:block;width:100%;height:auto;margin:8px 0}
svg text{font:12px system-ui,"Segoe UI","DejaVu Sans",sans-serif}svg text.small{font-size:11px}
svg text.strong{font-weight:600}
.ink{fill:var(--ink)}.faint{fill:var(--faint)}
.axis{stroke:var(--faint);stroke-width:1}.grid{stroke:var(--rule);stroke-width:1}
.limit{stroke:var(--ink);stroke-width:1.5}.line{fill:none;stroke-width:2;stroke-linejoin:round}
.thin{stroke-width:1}
.s1{stroke:var(--c1)}.s2{stroke:var(--c2)}.s3{stroke:var(--c3)}
.s4{stroke:var(--c4)}.s5{stroke:var(--c5)}.s6{stroke:var(--c6)}
.f1{fill:var(--c1)}.f2{fill:var(--c2)}.f3{fill:var(--c3)}
.f4{fill:var(--c4)}.f5{fill:var(--c5)}.f6{fill:var(--c6)}
.h1,.h2,.h3,.h4,.h5,.h6{fill:var(--paper);stroke-width:1.8}
.h1{stroke:var(--c1)}.h2{stroke:var(--c2)}.h3{stroke:var(--c3)}
.h4{stroke:var(--c4)}.h5{stroke:var(--c5)}.h6{stroke:var(--c6)}
.median{stroke:var(--c2);stroke-width:3}
.q1{fill:#fde725}.q2{fill:#addc30}.q3{fill:#5ec962}.q4{fill:#28ae80}.q5{fill:#21918c}
.q6{fill:#2c728e}.q7{fill:#3b528b}.q8{fill:#472d7b}.q9{fill:#440154}
.t1,.t2,.t3,.t4,.t5{fill:#000000}.t6,.t7,.t8,.t9{fill:#ffffff}
.none{fill:none;stroke:var(--rule);stroke-dasharray:2 3}.frame{fill:none;stroke:#000000;stroke-width:2}
figure{margin:12px 0 20px}figcaption{font-weight:600;margin:0 0 4px}.n{white-space:nowrap}
summary{cursor:pointer;color:var(--c1);margin:12px 0}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));gap:8px 24px}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:13px;margin:8px 0 16px}
th,td{padding:3px 10px;text-align:right;vertical-align:top;white-space:nowrap}
th{font-weight:600}thead th{border-bottom:2px solid var(--rule);vertical-align:bottom;white-space:normal}
tbody{border-bottom:1px solid var(--rule)}
td{font-variant-numeric:tabular-nums}
.l{text-align:left}.m{text-align:left;white-space:normal;min-width:16em;max-width:34em;overflow-wrap:anywhere}
.own td{background:var(--band)}.bad td,.bad{color:var(--warn)}
)";

}  // namespace

std::string page(const std::string& title, const std::string& body) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
         "<meta name=\"color-scheme\" content=\"light dark\"/>\n" +
         element("title", title) + "\n<style>" + style + "</style>\n</head>\n<body>\n" + body +
         "</body>\n</html>\n";
}

std::string element(const std::string& name, const std::string& words) {
  return "<" + name + ">" + escaped(words) + "</" + name + ">";
}

std::string definition(const std::string& term, const std::string& words) {
  return words.empty() ? "" : element("dt", term) + element("dd", words) + "\n";
}

std::string seconds_tick(double seconds) {
  return seconds == 0 ? "0" : short_amount(seconds * 1e9, {"ns", "us", "ms", "s"});
}

std::string bytes_tick(double bytes) { return short_amount(bytes, {"B", "kB", "MB", "GB", "TB"}); }

std::string bandwidth_tick(double bytes_a_second) {
  return short_amount(bytes_a_second / 1e6, {"MB/s", "GB/s", "TB/s"});
}

std::string count_tick(double count) { return short_amount(count, {"", "k", "M", "G"}); }

std::string power_tick(double value) { return readable_error(value); }

}  // namespace heddle::report
