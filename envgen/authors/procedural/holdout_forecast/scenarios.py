"""The businesses that the forecasts are made for: words, columns and plausible magnitudes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Driver:
    """A numeric column that moves the target, and the other unit some loggers write it in."""

    column: str
    text: str
    unit: str
    mean: float
    season: float
    spread: float
    low: float
    decimals: int
    other_unit: str
    factor: float
    """Value in the other unit = value * factor + offset."""
    offset: float = 0.0
    dry_share: float = 0.0
    """Share of rows in which it is simply zero (rain)."""


@dataclass(frozen=True)
class Scenario:
    """One business; everything else about a task is drawn."""

    key: str
    operator: str
    subject: str
    target: str
    target_text: str
    entity: str
    kinds: tuple[str, str]
    kind_column: str
    size_column: str
    slots: tuple[str, ...]
    slot_column: str
    drivers: tuple[str, ...]
    events: tuple[str, ...]
    base: tuple[float, float]
    decimals: int
    use: str


TEMPERATURE = Driver(
    "temp_c",
    "outdoor air temperature",
    "degrees Celsius",
    11.0,
    10.0,
    3.5,
    -40.0,
    1,
    "degrees Fahrenheit",
    1.8,
    32.0,
)
DRIVERS = {
    "temp": TEMPERATURE,
    "wind": Driver("wind_ms", "mean wind speed", "m/s", 5.5, 1.0, 2.2, 0.2, 1, "km/h", 3.6),
    "rain": Driver(
        "rain_mm",
        "rainfall",
        "mm",
        5.0,
        1.0,
        4.0,
        0.2,
        1,
        "tenths of a millimetre",
        10.0,
        dry_share=0.45,
    ),
    "humidity": Driver(
        "humidity_pct",
        "relative humidity",
        "percent",
        66.0,
        8.0,
        11.0,
        15.0,
        1,
        "a fraction between 0 and 1",
        0.01,
    ),
    "solar": Driver(
        "solar_wm2", "global radiation", "W/m2", 190.0, 110.0, 45.0, 8.0, 0, "kW/m2", 0.001
    ),
    "price": Driver(
        "price_eur", "list price on that day", "euro", 3.2, 0.1, 0.45, 0.8, 2, "cents", 100.0
    ),
    "staff": Driver(
        "staff_hours",
        "staff hours on the roster",
        "hours",
        62.0,
        5.0,
        12.0,
        8.0,
        0,
        "minutes",
        60.0,
    ),
    "backlog": Driver(
        "backlog_k",
        "open orders at opening time",
        "thousand orders",
        4.2,
        0.6,
        1.1,
        0.3,
        2,
        "single orders",
        1000.0,
    ),
    "water_temp": Driver(
        "water_c",
        "water temperature",
        "degrees Celsius",
        13.0,
        6.0,
        1.6,
        0.5,
        1,
        "degrees Fahrenheit",
        1.8,
        32.0,
    ),
    "delay": Driver(
        "delay_min",
        "mean delay of connecting trains",
        "minutes",
        6.0,
        0.8,
        2.6,
        0.0,
        1,
        "seconds",
        60.0,
    ),
    "door": Driver(
        "door_open_min",
        "time that dock doors stood open",
        "minutes",
        75.0,
        12.0,
        22.0,
        4.0,
        0,
        "hours",
        1 / 60,
    ),
}

_SHIFTS = ("early", "late", "night")
_PARTS = ("morning", "midday", "afternoon", "evening")
_BLOCKS = ("00-04", "04-08", "08-12", "12-16", "16-20", "20-24")

SCENARIOS = (
    Scenario(
        "feeder_load",
        "a regional grid operator",
        "the energy drawn by its distribution feeders",
        "load_kwh",
        "energy drawn, kWh",
        "feeder",
        ("urban", "rural"),
        "feeder_class",
        "rated_kva",
        _BLOCKS,
        "block",
        ("temp", "wind", "solar"),
        ("public_holiday", "factory_shutdown"),
        (420.0, 1900.0),
        1,
        "the purchase of balancing energy",
    ),
    Scenario(
        "bike_rentals",
        "a city bike scheme",
        "rentals at its docking stations",
        "rentals",
        "rentals started",
        "station",
        ("commuter", "leisure"),
        "station_type",
        "docks",
        _PARTS,
        "part_of_day",
        ("temp", "rain", "wind"),
        ("public_holiday", "street_festival"),
        (40.0, 170.0),
        0,
        "the vans that move bikes overnight",
    ),
    Scenario(
        "clinic_walkins",
        "a county health service",
        "walk-in patients at its urgent-care sites",
        "walkins",
        "patients registered without appointment",
        "clinic",
        ("hospital_site", "community_site"),
        "site_class",
        "rooms",
        (),
        "",
        ("temp", "humidity", "rain"),
        ("public_holiday", "school_break"),
        (45.0, 160.0),
        0,
        "the nursing roster",
    ),
    Scenario(
        "warehouse_picks",
        "a parts distributor",
        "order lines picked in its halls",
        "picks",
        "order lines picked",
        "hall",
        ("bulk", "small_parts"),
        "hall_type",
        "pick_faces",
        _SHIFTS,
        "shift",
        ("backlog", "staff", "temp"),
        ("stocktake", "promotion"),
        (600.0, 2600.0),
        0,
        "the booking of temporary staff",
    ),
    Scenario(
        "greenhouse_harvest",
        "a growers' cooperative",
        "tomatoes harvested in its greenhouses",
        "harvest_kg",
        "harvested fruit, kg",
        "house",
        ("glass", "film"),
        "cover",
        "area_m2",
        (),
        "",
        ("solar", "humidity", "temp"),
        ("public_holiday", "crop_change"),
        (350.0, 1500.0),
        1,
        "the trucks that are ordered each week",
    ),
    Scenario(
        "water_demand",
        "a water board",
        "drinking water supplied to its pressure zones",
        "demand_m3",
        "water supplied, m3",
        "zone",
        ("residential", "mixed"),
        "zone_use",
        "connections",
        _BLOCKS,
        "block",
        ("temp", "rain", "humidity"),
        ("public_holiday", "school_break"),
        (110.0, 620.0),
        1,
        "the pump schedule",
    ),
    Scenario(
        "bakery_loaves",
        "a bakery chain",
        "loaves sold in its shops",
        "loaves",
        "loaves sold",
        "shop",
        ("high_street", "station_kiosk"),
        "shop_format",
        "counter_m",
        (),
        "",
        ("temp", "rain", "price"),
        ("public_holiday", "market_day"),
        (90.0, 420.0),
        0,
        "the dough order placed the evening before",
    ),
    Scenario(
        "ferry_passengers",
        "a harbour ferry line",
        "passengers on its crossings",
        "passengers",
        "passengers carried",
        "route",
        ("island", "cross_harbour"),
        "route_type",
        "seats",
        _PARTS,
        "part_of_day",
        ("wind", "temp", "rain"),
        ("public_holiday", "regatta"),
        (120.0, 520.0),
        0,
        "the choice of vessel",
    ),
    Scenario(
        "coldstore_energy",
        "a frozen-food logistics firm",
        "electricity used by its cold stores",
        "energy_kwh",
        "electricity used, kWh",
        "store",
        ("deep_freeze", "chilled"),
        "regime",
        "volume_m3",
        (),
        "",
        ("temp", "door", "humidity"),
        ("public_holiday", "defrost_day"),
        (900.0, 3800.0),
        1,
        "the monthly power contract",
    ),
    Scenario(
        "support_calls",
        "a telecoms help desk",
        "calls reaching its queues",
        "calls",
        "calls offered",
        "queue",
        ("technical", "billing"),
        "queue_kind",
        "agents",
        _SHIFTS,
        "shift",
        ("temp", "rain", "backlog"),
        ("public_holiday", "invoice_run"),
        (140.0, 700.0),
        0,
        "the shift plan",
    ),
    Scenario(
        "pool_visits",
        "a municipal leisure company",
        "visits to its swimming pools",
        "visits",
        "tickets scanned",
        "pool",
        ("indoor", "open_air"),
        "pool_type",
        "lanes",
        _PARTS,
        "part_of_day",
        ("temp", "water_temp", "rain"),
        ("public_holiday", "school_break"),
        (70.0, 330.0),
        0,
        "the number of lifeguards",
    ),
    Scenario(
        "station_meals",
        "a caterer in railway stations",
        "meals sold at its counters",
        "meals",
        "meals sold",
        "counter",
        ("concourse", "platform"),
        "position",
        "tills",
        _PARTS,
        "part_of_day",
        ("delay", "temp", "price"),
        ("public_holiday", "line_closure"),
        (60.0, 300.0),
        0,
        "the kitchen's production plan",
    ),
)

PLACES = (
    "alder",
    "birchley",
    "corvane",
    "dunmere",
    "eastwick",
    "fenholt",
    "garrow",
    "hollin",
    "ironbay",
    "juniper",
    "kestrel",
    "larkhill",
    "marlow_end",
    "northgate",
    "oakridge",
    "pinfold",
    "quarry",
    "redwater",
    "saltmarsh",
    "thornby",
    "underhill",
    "vesper",
    "westlock",
    "yarrow",
    "zelkova",
)
