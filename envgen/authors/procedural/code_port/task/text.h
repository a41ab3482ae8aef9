#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

// A text, cut at its first space.
inline std::pair<std::string, std::string> cut(const std::string& text) {
    size_t at = text.find(' ');
    if (at == std::string::npos) return {text, ""};
    return {text.substr(0, at), text.substr(at + 1)};
}

// As many digits as there are.
inline int32_t number(const std::string& text) {
    size_t at = !text.empty() && text[0] == '-';
    bool minus = at == 1;
    uint32_t value = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; at++)
        value = value * 10 + uint32_t(text[at] - '0');
    return int32_t(minus ? 0u - value : value);
}

template <typename... T>
std::string print(const char* format, T... values) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, format, values...);
    return buffer;
}
