# Fails unless `readme` shows `program` unchanged.
file(READ ${readme} text)
file(READ ${program} expected)
string(FIND "${text}" "```cpp\n${expected}```" found)
if(found EQUAL -1)
  message(FATAL_ERROR "${readme} does not show ${program} as it is")
endif()
