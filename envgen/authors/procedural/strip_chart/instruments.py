"""The recorders: what they write, in which unit, and what is wanted from the sheet."""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

from . import signals
from .signals import Signal


@dataclass(frozen=True)
class Channel:
    """One pen. `law` turns the card's unit into the wanted one with `a` and `b`."""

    quantity: str
    column: str
    card_unit: str
    unit: str
    law: str
    a: float
    b: float
    law_text: str
    low: float
    high: float
    shape: Callable[[random.Random], Signal]
    derived: tuple[str, ...]
    steep: bool = False
    """Near-vertical strokes: coarser accuracy is asked, nothing is laid over the trace."""
    rest: float | None = None
    """The shape's value where the instrument reads zero, for those that rest somewhere."""

    def convert(self, value: float) -> float:
        """From the card's unit to the unit that is asked for."""
        if self.law == "linear":
            return self.a * value + self.b
        if self.law == "absorbance":
            return 2 - math.log10(value)
        return float(self.a * max(value, 0.0) ** 0.5)


@dataclass(frozen=True)
class Instrument:
    """A recorder: its time axis and its pens."""

    key: str
    name: str
    owner: str
    sheet: str
    axis: str
    time_unit: str
    time_column: str
    spans: tuple[float, ...]
    step: float
    origin: float
    channels: tuple[Channel, ...]
    drifting: bool = True
    """The axis can run fast or slow."""


_F_TO_C = ("linear", 5 / 9, -160 / 9, "C = (F - 32) / 1.8")
_PERCENT = ("linear", 0.01, 0.0, "fraction = percent / 100")
_FEET = ("linear", 0.3048, 0.0, "1 ft = 0.3048 m")
_INHG = ("linear", 33.8639, 0.0, "1 inHg = 33.8639 hPa")

INSTRUMENTS = (
    Instrument(
        "tide_gauge",
        "float tide gauge",
        "a harbour office",
        "tide roll",
        "time",
        "hours",
        "time_h",
        (44.0, 48.0, 50.0),
        0.2,
        0.0,
        (
            Channel(
                "water level above the staff's zero",
                "level_m",
                "ft",
                "m",
                *_FEET,
                1.5,
                17.5,
                signals.tide,
                ("max", "max_at", "min", "mean_cycle"),
            ),
            Channel(
                "well temperature",
                "well_c",
                "degrees F",
                "degrees C",
                *_F_TO_C,
                46.0,
                63.0,
                signals.weather,
                ("max", "max_at", "mean"),
            ),
        ),
    ),
    Instrument(
        "thermohygrograph",
        "thermohygrograph",
        "a museum store",
        "weekly sheet",
        "time",
        "hours",
        "time_h",
        (120.0, 144.0, 168.0),
        0.5,
        0.0,
        (
            Channel(
                "air temperature",
                "temp_c",
                "degrees F",
                "degrees C",
                *_F_TO_C,
                48.0,
                86.0,
                signals.weather,
                ("max", "max_at", "above"),
            ),
            Channel(
                "relative humidity",
                "humidity",
                "percent",
                "a fraction",
                *_PERCENT,
                32.0,
                88.0,
                signals.demand,
                ("max", "max_at", "above", "mean"),
            ),
        ),
    ),
    Instrument(
        "barograph",
        "aneroid barograph",
        "a weather station",
        "drum sheet",
        "time",
        "hours",
        "time_h",
        (72.0, 84.0, 96.0),
        0.4,
        0.0,
        (
            Channel(
                "station pressure",
                "pressure_hpa",
                "inHg",
                "hPa",
                *_INHG,
                28.7,
                30.3,
                signals.pressure,
                ("min", "min_at", "first_fall"),
            ),
            Channel(
                "air temperature",
                "temp_c",
                "degrees F",
                "degrees C",
                *_F_TO_C,
                38.0,
                77.0,
                signals.weather,
                ("max", "max_at", "mean"),
            ),
        ),
    ),
    Instrument(
        "stage_recorder",
        "river stage recorder",
        "a flood archive",
        "stage chart",
        "time",
        "hours",
        "time_h",
        (180.0, 216.0, 240.0),
        1.0,
        0.0,
        (
            Channel(
                "river stage",
                "stage_m",
                "ft",
                "m",
                *_FEET,
                2.0,
                19.0,
                signals.flood,
                ("max", "max_at", "first_rise", "above"),
            ),
            Channel(
                "water temperature",
                "water_c",
                "degrees F",
                "degrees C",
                *_F_TO_C,
                41.0,
                66.0,
                signals.weather,
                ("max", "max_at", "mean"),
            ),
        ),
    ),
    Instrument(
        "furnace_recorder",
        "multi-point furnace recorder",
        "a heat-treatment shop",
        "furnace strip",
        "time",
        "minutes",
        "time_min",
        (240.0, 300.0, 360.0),
        1.0,
        0.0,
        (
            Channel(
                "charge temperature",
                "charge_c",
                "degrees F",
                "degrees C",
                *_F_TO_C,
                120.0,
                1650.0,
                signals.furnace,
                ("max", "first_rise", "above", "mean"),
            ),
            Channel(
                "fuel flow",
                "fuel_m3h",
                "inches of water across the orifice",
                "m3/h",
                "root",
                7.4,
                0.0,
                "flow = 7.4 * sqrt(reading)",
                4.0,
                78.0,
                signals.demand,
                ("max", "max_at", "mean"),
            ),
        ),
    ),
    Instrument(
        "flow_recorder",
        "orifice flow recorder",
        "a waterworks",
        "flow chart",
        "time",
        "hours",
        "time_h",
        (24.0, 30.0, 36.0),
        0.1,
        0.0,
        (
            Channel(
                "main flow",
                "flow_m3h",
                "percent of full differential",
                "m3/h",
                "root",
                41.5,
                0.0,
                "flow = 41.5 * sqrt(reading)",
                6.0,
                92.0,
                signals.demand,
                ("max", "max_at", "above", "mean"),
            ),
            Channel(
                "outlet pressure",
                "outlet_kpa",
                "psi",
                "kPa",
                "linear",
                6.89476,
                0.0,
                "1 psi = 6.89476 kPa",
                31.0,
                74.0,
                signals.pressure,
                ("min", "min_at", "mean"),
            ),
        ),
    ),
    Instrument(
        "spectrometer",
        "scanning spectrometer",
        "a dye laboratory",
        "scan sheet",
        "wavelength",
        "nm",
        "wavelength_nm",
        (300.0, 360.0),
        1.0,
        380.0,
        (
            Channel(
                "sample A",
                "absorbance_a",
                "percent transmittance",
                "absorbance",
                "absorbance",
                0.0,
                0.0,
                "A = 2 - log10(percent transmittance)",
                14.0,
                96.0,
                signals.spectrum,
                ("max", "max_at", "mean"),
            ),
            Channel(
                "sample B",
                "absorbance_b",
                "percent transmittance",
                "absorbance",
                "absorbance",
                0.0,
                0.0,
                "A = 2 - log10(percent transmittance)",
                16.0,
                94.0,
                signals.spectrum,
                ("max", "max_at", "mean"),
            ),
        ),
        drifting=False,
    ),
    Instrument(
        "seismograph",
        "pen seismograph",
        "an observatory",
        "strip",
        "time",
        "seconds",
        "time_s",
        (50.0, 60.0, 75.0),
        0.2,
        0.0,
        (
            Channel(
                "vertical motion",
                "vertical_um",
                "mm on the paper",
                "micrometres of the ground",
                "linear",
                1.25,
                0.0,
                "the magnification is 800, so 1 mm = 1.25 micrometres",
                -42.0,
                42.0,
                signals.quake,
                ("max", "max_at", "first_rise"),
                steep=True,
                rest=0.5,
            ),
            Channel(
                "north motion",
                "north_um",
                "mm on the paper",
                "micrometres of the ground",
                "linear",
                1.6,
                0.0,
                "the magnification is 625, so 1 mm = 1.6 micrometres",
                -38.0,
                38.0,
                signals.quake,
                ("max", "max_at", "first_rise"),
                steep=True,
                rest=0.5,
            ),
        ),
    ),
    Instrument(
        "ecg_strip",
        "electrocardiograph",
        "a hospital museum",
        "strip",
        "time",
        "seconds",
        "time_s",
        (5.0, 5.6, 6.0),
        0.01,
        0.0,
        (
            Channel(
                "lead II",
                "lead_ii_mv",
                "mm on the paper",
                "mV",
                "linear",
                0.1,
                0.0,
                "10 mm = 1 mV",
                -4.0,
                13.0,
                signals.heart,
                ("max", "max_at", "mean_cycle"),
                steep=True,
                rest=0.24,
            ),
            Channel(
                "lead V5",
                "lead_v5_mv",
                "mm on the paper",
                "mV",
                "linear",
                0.05,
                0.0,
                "half sensitivity of the amplifier's gain switch: 20 mm = 1 mV",
                -5.0,
                15.0,
                signals.heart,
                ("max", "max_at", "mean_cycle"),
                steep=True,
                rest=0.24,
            ),
        ),
    ),
)
