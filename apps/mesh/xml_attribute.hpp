// Text in the attributes of VTK's files.
#pragma once

#include <string>
#include <string_view>

namespace heddle::mesh {

/// `text` as it stands between quotation marks. Throws `Error` (usage) for control characters, of
/// which XML has none; `what` names the text in the message.
std::string xml_attribute(std::string_view text, std::string_view what);

/// "LittleEndian" or "BigEndian", as this machine is.
std::string_view vtk_byte_order();

}  // namespace heddle::mesh
