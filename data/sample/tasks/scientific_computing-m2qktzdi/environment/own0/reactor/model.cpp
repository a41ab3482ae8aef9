#include <array>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

constexpr int steps = 165;
constexpr double dt = 0.049;

using State = std::array<double, 2>;
using Params = std::vector<double>;

State rates([[maybe_unused]] double t, const State& s, const Params& p) {
    const auto [feed, catalyst] = s;
    const double a = p[0], b = p[1];
    State k = {
        a + feed * feed * catalyst - (b + 1.0) * feed,
        b * feed - feed * feed * catalyst,
    };
    if (t >= 1.62 && t < 4.85) k[0] *= 0.57;
    return k;
}

State moved(State s, const State& k, double h) {
    for (size_t n = 0; n < s.size(); n++) s[n] += h * k[n];
    return s;
}

State step(double t, State s, const Params& p) {
    for (size_t n = 0; n < s.size(); n++) s[n] += dt * rates(t, s, p)[n];
    return s;
}

void run(const Params& p) {
    State s = {1.03, 1.84};
    double t = 0, peak = s[0], when = 0;
    int drains = 0;
    for (int n = 0; n < steps; n++) {
        s = step(t, s, p);
        t += dt;
        if (s[0] > 0.96) {
            s[0] *= 0.74;
            drains++;
        }
        if (s[0] > peak) peak = s[0], when = t;
    }
    for (double one : s) std::printf(",%.6f", one);
    std::printf(",%.6f,%.6f,%d\n", peak, when, drains);
}

int main() {
    std::string line, cell;
    std::getline(std::cin, line);  // the header: id,a,b
    std::puts("id,feed,catalyst,peak,when,drains");
    while (std::getline(std::cin, line)) {
        std::istringstream cells(line);
        std::getline(cells, cell, ',');
        std::printf("%s", cell.c_str());
        Params p;
        while (std::getline(cells, cell, ',')) p.push_back(std::stod(cell));
        run(p);
    }
}
