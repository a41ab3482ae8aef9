"""The businesses whose ledgers are asked about: names of tables and columns, and words."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Scenario:
    """Four tables: places, parties, events at a place by a party, and charges on events."""

    key: str
    story: str
    place: str
    places: str
    region: str
    party: str
    parties: str
    segment: str
    joined: str
    event: str
    events: str
    happened: str
    closed: str
    qty: str
    state: str
    charge: str
    charges: str
    booked: str
    kind: str
    states: tuple[str, str, str, str]
    """Open, done, done otherwise, and the one that may be ignored."""
    kinds: tuple[str, str, str]
    """Two that cost, one that gives back."""
    segments: tuple[str, ...]
    place_words: tuple[str, ...]
    walk_in: str


SCENARIOS = (
    Scenario(
        "library",
        "The lending system of the town libraries",
        *("branch", "branches", "district"),
        *("member", "members", "tier", "joined_on"),
        *("loan", "loans", "lent_on", "returned_on", "items", "state"),
        *("fee", "fees", "booked_on", "kind"),
        ("out", "returned", "lost", "void"),
        ("late", "damage", "waiver"),
        ("adult", "junior", "school", "institution"),
        ("Old Mill", "Harbour Lane", "Chapel Green", "Station Road", "Orchard", "Weir House"),
        "anonymous",
    ),
    Scenario(
        "clinic",
        "The visit register of a group of physiotherapy clinics",
        *("site", "sites", "area"),
        *("patient", "patients", "insurer", "registered_on"),
        *("visit", "visits", "started_on", "discharged_on", "minutes", "outcome"),
        *("invoice_line", "invoice_lines", "issued_on", "type"),
        ("ongoing", "recovered", "referred", "no-show"),
        ("session", "material", "credit"),
        ("public", "private", "company", "student"),
        ("North Wing", "Bridge Street", "Park Side", "Lower Gate", "Spring Court", "Tram Depot"),
        "walk-in",
    ),
    Scenario(
        "freight",
        "The leg ledger of a regional haulier",
        *("depot", "depots", "corridor"),
        *("shipper", "shippers", "contract", "signed_on"),
        *("leg", "legs", "departed_on", "arrived_on", "pallets", "status"),
        *("surcharge", "surcharges", "posted_on", "reason"),
        ("rolling", "delivered", "refused", "cancelled"),
        ("fuel", "waiting", "rebate"),
        ("frame", "spot", "partner", "internal"),
        ("Gravel Pit", "Quay Nine", "Hill Cross", "East Yard", "Cold Store", "Ring Road"),
        "unassigned",
    ),
    Scenario(
        "tickets",
        "The box-office database of several small theatres",
        *("venue", "venues", "quarter"),
        *("patron", "patrons", "circle", "enrolled_on"),
        *("booking", "bookings", "ordered_on", "collected_on", "seats", "state"),
        *("payment", "payments", "paid_on", "method"),
        ("held", "collected", "resold", "withdrawn"),
        ("card", "cash", "refund"),
        ("friend", "regular", "press", "group"),
        ("Lantern Hall", "Cellar Stage", "Round House", "Garden Arena", "Loft", "Boat Theatre"),
        "box office",
    ),
    Scenario(
        "rental",
        "The hire book of a bicycle and trailer rental",
        *("station", "stations", "zone"),
        *("customer", "customers", "plan", "since"),
        *("hire", "hires", "taken_on", "brought_back_on", "kilometres", "status"),
        *("charge", "charges", "charged_on", "kind"),
        ("riding", "closed", "damaged", "voided"),
        ("rent", "penalty", "goodwill"),
        ("daily", "monthly", "commuter", "guest"),
        ("Ferry Pier", "West Gate", "Campus", "Market Hall", "Canal Lock", "Upper Town"),
        "unregistered",
    ),
    Scenario(
        "laboratory",
        "The order system of a network of soil laboratories",
        *("lab", "labs", "county"),
        *("grower", "growers", "scheme", "admitted_on"),
        *("request", "requests", "received_on", "reported_on", "samples", "state"),
        *("billing", "billings", "billed_on", "class"),
        ("pending", "reported", "partial", "spoiled"),
        ("analysis", "express", "discount"),
        ("organic", "arable", "nursery", "council"),
        ("Peat Lab", "Clay Lab", "River Lab", "Dune Lab", "Loam Lab", "Chalk Lab"),
        "sender unknown",
    ),
    Scenario(
        "workshop",
        "The job ledger of a chain of instrument workshops",
        *("workshop", "workshops", "borough"),
        *("client", "clients", "grade", "first_seen_on"),
        *("job", "jobs", "accepted_on", "handed_back_on", "hours", "stage"),
        *("cost_line", "cost_lines", "entered_on", "sort"),
        ("bench", "handed-back", "scrapped", "dropped"),
        ("labour", "parts", "rebate"),
        ("school", "orchestra", "amateur", "dealer"),
        ("Reed Room", "Brass Yard", "String Loft", "Drum Cellar", "Key Court", "Pipe House"),
        "counter",
    ),
    Scenario(
        "coldstore",
        "The stock ledger of a cold-storage operator",
        *("warehouse", "warehouses", "port"),
        *("tenant", "tenants", "trade", "leased_on"),
        *("lot", "lots", "stored_on", "released_on", "crates", "status"),
        *("storage_fee", "storage_fees", "accrued_on", "basis"),
        ("stored", "released", "destroyed", "misbooked"),
        ("space", "handling", "correction"),
        ("fish", "fruit", "dairy", "pharmacy"),
        ("Pier One", "Block C", "Dock Gate", "Ice House", "Rail Shed", "South Basin"),
        "no tenant",
    ),
    Scenario(
        "hostel",
        "The stay register of a hostel association",
        *("house", "houses", "valley"),
        *("guest", "guests", "pass", "member_since"),
        *("stay", "stays", "arrived_on", "left_on", "beds", "state"),
        *("extra", "extras", "noted_on", "item"),
        ("present", "departed", "transferred", "cancelled"),
        ("meal", "laundry", "compensation"),
        ("youth", "family", "club", "worker"),
        ("Pine Hut", "Lake House", "Pass Lodge", "Mill House", "Glacier View", "Sheep Fold"),
        "passer-by",
    ),
    Scenario(
        "ferry",
        "The crossing ledger of an island ferry authority",
        *("berth", "berths", "island"),
        *("carrier", "carriers", "licence", "licensed_on"),
        *("crossing", "crossings", "sailed_on", "docked_on", "vehicles", "status"),
        *("due", "dues", "levied_on", "category"),
        ("at-sea", "docked", "diverted", "annulled"),
        ("berthing", "pilotage", "remission"),
        ("passenger", "cargo", "mail", "seasonal"),
        ("Long Jetty", "Stone Pier", "Seal Point", "Inner Mole", "Kelp Quay", "North Slip"),
        "unlicensed",
    ),
)

REGIONS = (
    ("Queen's Reach", "Lower Bank", "Moor End", "Saint Odo's"),
    ("Fuller's Hill", "Riverside", "Three Elms", "Abbot's Ford"),
    ("King's Ferry", "Outer Ring", "Copper Vale", "Miller's Row"),
    ("Baker's Island", "Two Rivers", "High Fen", "Dyer's Close"),
)

PEOPLE = (
    "Aldous Finch",
    "Berit Lund",
    "Cato O'Marra",
    "Dorte Vang",
    "Edda Quill",
    "Fabio Renner",
    "Greta Moss",
    "Hale D'Arno",
    "Ines Tolle",
    "Jorun Falk",
    "Kirsa Bohm",
    "Lowell Penn",
    "Mika Salo",
    "Nadia Crewe",
    "Oda Wester",
    "Piers N'Diro",
    "Quinta Rowe",
    "Rasmus Ekholm",
    "Silke Arndt",
    "Tove Maris",
    "Ulf Brandt",
    "Vera Stroud",
    "Wim Castor",
    "Yara Blom",
)
