"""The businesses that get feeds: what a record is called, and its vocabulary."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Scenario:
    """`labels` are the clean columns for key, name, date, amount, code and quantity."""

    key: str
    story: str
    record: str
    records: str
    labels: tuple[str, str, str, str, str, str]
    letters: int
    digits: int
    codes: tuple[str, str, str, str]
    units: tuple[tuple[str, int], ...]
    """Names of units and how many of the first each is."""
    feeds: tuple[str, ...]
    nouns: tuple[str, ...]
    makers: tuple[str, ...]


SCENARIOS = (
    Scenario(
        "seeds",
        "Several growers send us their seed lists for one shared catalogue",
        "seed lot",
        "seed lots",
        ("lot", "variety", "tested", "price", "treatment", "grams"),
        2,
        5,
        ("untreated", "primed", "coated", "pelleted"),
        (("grams", 1), ("kilograms", 1000), ("ten-gram bags", 10)),
        ("hofgut", "albaflor", "nordsaat", "verdura", "kernland", "semina"),
        ("Kürbis", "Möhre", "Lauch", "Radieschen", "Épinard", "Fenouil", "Maïs", "Salat"),
        ("Früh", "Géant", "Rot", "d'Été", "Grün", "Nain", "Süß", "Blanc"),
    ),
    Scenario(
        "hotel",
        "Booking portals forward their reservations to our small hotel group",
        "reservation",
        "reservations",
        ("booking", "guest", "arrival", "total", "board", "nights"),
        3,
        4,
        ("room", "breakfast", "half", "full"),
        (("nights", 1), ("weeks", 7)),
        ("staynest", "bedlink", "roomio", "vacaro", "innway", "lodgia"),
        ("Søren", "Zoë", "José", "Anaïs", "Jürgen", "Inês", "Bjørn", "Mark"),
        ("Müller", "Núñez", "Bélanger", "Ångström", "Brandt", "Løvås", "Peña", "Weiß"),
    ),
    Scenario(
        "library",
        "Booksellers deliver title data for the acquisitions of our library network",
        "title",
        "titles",
        ("item", "title", "released", "price", "binding", "copies"),
        2,
        6,
        ("hardback", "paperback", "spiral", "loose"),
        (("copies", 1), ("dozens", 12)),
        ("paperhaus", "folio9", "lettera", "buchring", "quarto", "tomes"),
        ("Über", "Poèmes", "Garten", "Histoire", "Fjällvandring", "Études", "Seen", "Märchen"),
        ("der Küste", "de l'été", "am Fluß", "complète", "i Norden", "für alle", "brève", "II"),
    ),
    Scenario(
        "parcels",
        "Carriers report what they scanned, and our depot bills from those reports",
        "consignment",
        "consignments",
        ("parcel", "addressee", "scanned", "charge", "service", "weight_g"),
        3,
        5,
        ("standard", "express", "evening", "return"),
        (("grams", 1), ("kilograms", 1000), ("decagrams", 10)),
        ("swiftbox", "rollpost", "kurio", "parcela", "hopp", "dropline"),
        ("Käthe", "Noël", "Frida", "Benoît", "Åse", "Tomás", "Chloé", "Uwe"),
        ("Größmann", "Lefèvre", "Östberg", "Garção", "Heinz", "Sørensen", "Muñoz", "Roß"),
    ),
    Scenario(
        "donations",
        "Fund-raising platforms hand their pledges to our relief charity",
        "pledge",
        "pledges",
        ("pledge", "donor", "received", "amount", "purpose", "instalments"),
        2,
        6,
        ("general", "water", "shelter", "schools"),
        (("instalments", 1), ("years of monthly instalments", 12), ("quarterly packs", 3)),
        ("givewell9", "spendio", "kindly", "helpa", "donatia", "alms"),
        ("Loïc", "Birgül", "Mercè", "Käte", "Øyvind", "Solène", "Ruben", "Íris"),
        ("Château", "Schäfer", "Lindström", "Gómez", "Bôrel", "Kröger", "Nilsen", "Vaßen"),
    ),
    Scenario(
        "fuel",
        "Card networks send the fuel receipts of our van fleet",
        "receipt",
        "receipts",
        ("receipt", "station", "fuelled", "cost", "fuel", "millilitres"),
        2,
        5,
        ("diesel", "petrol", "gas", "adblue"),
        (("millilitres", 1), ("litres", 1000), ("centilitres", 10)),
        ("tankwerk", "octano", "routier", "kraftkarte", "pumpa", "milex"),
        ("Raststätte", "Relais", "Tankhof", "Área", "Bensinstation", "Aire", "Hof", "Garage"),
        ("Süd", "Forêt", "Höhe", "Málaga", "Västerås", "d'Orée", "Nord", "Grünau"),
    ),
    Scenario(
        "vet",
        "Outside laboratories return animal test results to our practice group",
        "result",
        "results",
        ("sample", "animal", "sampled", "fee", "matrix", "volume_ul"),
        3,
        4,
        ("blood", "urine", "swab", "tissue"),
        (("microlitres", 1), ("millilitres", 1000), ("hundred-microlitre tubes", 100)),
        ("labora", "vetlys", "biotier", "animed", "serolab", "caniso"),
        ("Bärli", "Chloé", "Rex", "Señor", "Mißka", "Frodo", "Élan", "Lúna"),
        ("vom Hof", "de Brême", "Kröte", "Pequeño", "av Fjäll", "Weiß", "II", "Tête"),
    ),
    Scenario(
        "tickets",
        "Resellers report ticket sales for our concert hall",
        "sale",
        "sales",
        ("ticket", "event", "sold", "gross", "category", "seats"),
        2,
        6,
        ("stalls", "balcony", "box", "standing"),
        (("seats", 1), ("pairs", 2), ("rows of ten", 10)),
        ("tixly", "saalplan", "billeto", "gradins", "frontrow", "ekarte"),
        ("Frühling", "Requiem", "Soirée", "Matinée", "Vår", "Nocturne", "Ländler", "Canção"),
        ("für Streicher", "à quatre", "Öffnung", "en ré", "mit Chor", "élégiaque", "I", "größer"),
    ),
    Scenario(
        "timber",
        "Sawmills announce their deliveries to our timber yard",
        "delivery",
        "deliveries",
        ("batch", "product", "felled", "value", "grade", "metres"),
        2,
        5,
        ("prime", "sound", "knotty", "rough"),
        (("metres", 1), ("bundles of 25 metres", 25), ("hundreds of metres", 100)),
        ("saegewerk", "boisvert", "trahus", "holzhof", "scieria", "plankor"),
        ("Lärche", "Chêne", "Kiefer", "Épicéa", "Björk", "Hêtre", "Tanne", "Nußbaum"),
        ("gehobelt", "séché", "roh", "hyvlad", "à façon", "gedämpft", "Brett", "fräst"),
    ),
    Scenario(
        "museum",
        "Partner houses lend objects and announce them for our exhibition register",
        "object",
        "objects",
        ("object", "caption", "due", "insured", "condition", "days"),
        3,
        5,
        ("perfect", "worn", "fragile", "restored"),
        (("days", 1), ("weeks", 7), ("thirty-day terms", 30)),
        ("stadtmus", "galerieb", "kunsthus", "fondart", "archivum", "palazzo"),
        ("Schüssel", "Médaille", "Krug", "Reliquaire", "Kärl", "Gemälde", "Statue", "Fächer"),
        ("aus Köln", "doré", "vergoldet", "émaillé", "från Skåne", "zweiteilig", "brisée", "weiß"),
    ),
)

COLUMN_WORDS = (
    ("ref", "ident", "number", "item_no", "code1"),
    ("title_text", "label", "description", "text", "designation"),
    ("day", "when", "date", "posted_on", "dated"),
    ("sum", "worth", "money", "net_total", "figure"),
    ("class", "type", "group", "flag", "sort"),
    ("count", "qty", "units", "extent", "measure"),
)
EXTRA_COLUMNS = ("remark", "clerk", "batch_run", "source", "page")
