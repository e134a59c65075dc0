// Text in the attributes of VTK's files.
#pragma once

#include <string>
#include <string_view>

namespace heddle::mesh {

/// `text` as written between quotation marks. Throws `Error` (usage) for control characters, which
/// XML does not allow; `what` names the text in the message.
std::string xml_attribute(std::string_view text, std::string_view what);

/// "LittleEndian" or "BigEndian", the byte order of this machine.
std::string_view vtk_byte_order();

}  // namespace heddle::mesh
