"""Invent people, places, organisations, numbers and dates.

Surnames, towns and organisations are put together from invented parts; given names are common ones
of many cultures. Telephone numbers use the range 555-0100 to 555-0199, mail uses example domains.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from random import Random

FEMALE = (
    "Maria Anna Sofia Fatima Aisha Olga Ingrid Chloe Emma Olivia Amelia Grace Ruth Margaret Joan Doreen Brenda Sheila "
    "Priya Anjali Meera Lakshmi Sunita Kavita Mei Ling Xiu Yuki Hana Sakura Akiko Ji-woo Min-ji Thuy Linh Siti Nur "
    "Amina Zainab Khadija Leila Yasmin Noor Samira Nadia Farah Ngozi Chioma Adaeze Funmi Yewande Abena Akua Wanjiku "
    "Makena Thandiwe Nomsa Lindiwe Zanele Katarzyna Agnieszka Magdalena Zofia Jadwiga Elena Irina Svetlana Natalia "
    "Oksana Daria Milica Jelena Ivana Petra Lucie Tereza Zsofia Eszter Ilona Greta Astrid Freya Signe Maja Linnea "
    "Aino Helmi Eeva Siiri Giulia Chiara Francesca Paola Lucia Carmen Pilar Ines Beatriz "
    "Mariana Luiza Camila Valentina "
    "Ximena Guadalupe Rosa Dolores Marisol Esperanza Camille Manon Elodie Celine Brigitte Odile Heidi Ursula Gisela "
    "Anke Saskia Femke Anouk Despina Eleni Ioanna Katerina Ayse Elif Zeynep Emine Hatice Shirin Parisa Niloufar Tamar "
    "Rivka Miriam Yael Shira Ana Catarina Joana Siobhan Aoife Niamh Ciara Rhiannon Carys Megan Isla Eilidh Morag "
    "Kirsty Keisha Latoya Shanice Denise Monique Charmaine Tamika Aaliyah Destiny Abigail Hannah Naomi Judith Esther "
    "Leilani Moana Aroha Hine Talia Marama Edith Hilda Winifred Mabel Ethel Beryl Maureen Pauline Lorraine Gillian "
    "Tracey Sharon Donna Kerry Joanne Samantha Jade Paige Ellie Poppy Daisy Zara Imogen Harriet Beatrice Philippa"
).split()
MALE = (
    "Jan Piotr Krzysztof Andrzej Tomasz Marek Stanislaw Ivan Dmitri Sergei Oleg Mykola Bohdan Taras Milan Goran Zoran "
    "Dragan Nikola Luka Pavel Jiri Vaclav Istvan Laszlo Gabor Bela Lars Erik Sven Nils Magnus Bjorn Olav Rasmus Jussi "
    "Matti Pekka Antti Giovanni Marco Luca Matteo Paolo Enzo Carlos Javier Diego Alejandro Miguel Pablo Rafael Joao "
    "Tiago Rui Paulo Mateus Thiago Hernan Esteban Jean Pierre Luc Etienne Olivier Mathieu Thierry Hans Klaus Jurgen "
    "Dieter Uwe Wolfgang Pieter Willem Joost Daan Nikos Giorgos Yannis Kostas Mehmet Mustafa Ahmet Emre Hakan Reza "
    "Hossein Farhad Kamran Omar Ali Hassan Yusuf Ibrahim Khalid Tariq Bilal Imran Faisal Rashid Mohammed Abdul Hamza "
    "Rajesh Sanjay Vikram Arjun Anil Suresh Ravi Deepak Harpreet Gurdeep Manjit Wei Jun Ming Hao Chen Kenji Hiroshi "
    "Takashi Daisuke Ren Min-ho Sung-jin Duc Minh Tuan Bayu Agus Budi Chidi Emeka Obinna Tunde Segun Kwame Kofi Kojo "
    "Kamau Otieno Juma Baraka Sipho Thabo Themba Bongani Moshe Avi Yosef David Eitan Liam Sean Conor Declan Padraig "
    "Rhys Gareth Dylan Hywel Angus Callum Hamish Fergus Alasdair Tyrone Darnell Marcus Jamal Andre Deshawn Terrence "
    "George Arthur Albert Stanley Harold Norman Ronald Kenneth Derek Trevor Nigel Graham Keith Barry Colin Stuart "
    "Craig Wayne Darren Jason Kevin Lee Ryan Jack Harry Oliver Noah Theo Felix Hugo Oscar Elliot Toby Rupert Samuel "
    "Joshua Nathan Benjamin Isaac Ethan Caleb Tane Wiremu Mika Keanu Ezra Silas Walter Ernest Cyril Reginald Desmond"
).split()
_ONSET = (
    "Bran Cal Dor Hal Har Kel Lor Mar Nor Pel Rav Sel Tor Val Wes Yar Zan Ash Bel Cor Dun Fen Gar Hol Ing Jas Kov Lin "
    "Mor Nev Osk Par Quil Ros Stan Tam Und Ver Wil Zel Ald Bry Cath Drez Eld Fol Grim Hest Ire Jor Kas Lud Mel Nad Orl "
    "Prat Rud Sim Thor Ur Vas Wyn Adeb Oko Chuk Mwan Nkos Dlam Ferr Gui Mont Sal Rod Esp Tak "
    "Mat Yam Sug Kuro Bhat Chak "
    "Desh Kap Mehr Rah Haq Sidd Farr Amir Pet Kow Nov Dvor Hor Sok Lyub Gren Lind Berg Ek Sund Var Kall Niem"
).split()
_CODA = (
    "wick ley ford ham stead combe thorpe low by worth mere dale ridge cliffe more ton shaw croft ingale ander ette "
    "ovic enko owski escu ovsky akis opoulos ander sson berg quist strand inen ola sen gaard elli etti ardo ini ucci "
    "ares ez eiro ente ardes inho aud eau ier oux ant mann hart brink veld huis stra eda moto hara gawa shima ani pati "
    "endra ullah zadeh ian yan oglu dar ayo unde ike wusi ambe ele ana isi oro agu"
).split()
_TOWN_A = (
    "Ald Amble Ash Barrow Beck Birch Black Bram Bright Brook Broad Calder Carn Cold Crake Dray Dun Eller Elm Ever Farn "
    "Fern Gorse Grey Hare Haver Hazel High Hollin Hurst Ivel Kest Kirk Lang Larch Ling Long Marl Mill Moss Nether Oak "
    "Otter Over Pen Pine Quern Raven Red Rook Rush Sal Sedge Silver Skel Stoke Strath Swal Tarn Thistle Thorn Under "
    "Wark Wether Whit Wind Wolver Yar Zell Brunn Lind Monte Porto Villa Sankt Kami Nova Stara Bela Dolo Vester Oster"
).split()
_TOWN_B = (
    "bourne bridge brook burn bury by caster chester cliff combe den ditch don field fleet ford gate grove ham hampton "
    "hithe holme hope hurst ing keld leigh ley low marsh mere minster mouth ness over pool port reach rigg sett shaw "
    "stead stoke ston thorpe thwaite ton water well wick wold worth yard feld berg vale mar rica gorod dal havn vik "
    "holm minde lund mura ovo itsa elle ona ello"
).split()
_STREET = (
    "Anvil Baker's Beacon Bishop's Canal Chapel Cherry Church Copper Crescent Dairy Drover's Ferry Field Fountain "
    "Foundry Garden Glebe Granary Hawthorn Heron Kiln King's Lantern Larkspur Linden Magpie "
    "Maple Market Meadow Millrace "
    "Minster Mulberry Orchard Park Pear-tree Pond Potter's Priory Quarry Rope Saddler's Saffron School Spinner's "
    "Station Sycamore Tannery Tollgate Vine Wagon Walnut Water Wharf Willow Windmill Wren"
).split()
_STREET_KIND = "Street Road Lane Avenue Close Court Drive Gardens Hill Mews Place Row Square Terrace Walk Way".split()
NATIONS = (
    ("Poland", "Polish"),
    ("Nigeria", "Nigerian"),
    ("Portugal", "Portuguese"),
    ("India", "Indian"),
    ("Ireland", "Irish"),
    ("Ghana", "Ghanaian"),
    ("Brazil", "Brazilian"),
    ("Romania", "Romanian"),
    ("Jamaica", "Jamaican"),
    ("Turkey", "Turkish"),
    ("Vietnam", "Vietnamese"),
    ("Somalia", "Somali"),
    ("Ukraine", "Ukrainian"),
    ("Greece", "Greek"),
    ("Chile", "Chilean"),
    ("Pakistan", "Pakistani"),
    ("Sri Lanka", "Sri Lankan"),
    ("Norway", "Norwegian"),
    ("Kenya", "Kenyan"),
    ("Japan", "Japanese"),
    ("Lithuania", "Lithuanian"),
    ("Morocco", "Moroccan"),
    ("Colombia", "Colombian"),
    ("Estonia", "Estonian"),
    ("Iran", "Iranian"),
    ("Lebanon", "Lebanese"),
    ("Hungary", "Hungarian"),
    ("Eritrea", "Eritrean"),
    ("Nepal", "Nepalese"),
    ("Italy", "Italian"),
)
JOBS = (
    "bus driver|school cook|retired joiner|primary school teacher|electrician|care worker|"
    "night porter|librarian|plasterer|"
    "farm worker|lorry driver|chef|hairdresser|retired miner|accountant|postal worker|"
    "warehouse operative|cellist|florist|"
    "bricklayer|call-centre agent|retired nurse|fisherman|train guard|software tester|tailor|"
    "carpenter|shop manager|vet|"
    "dental nurse|architect|taxi driver|plumber|translator|university lecturer|beekeeper|baker|social worker|welder|"
    "retired headteacher|gardener|security guard|delivery rider|roofer|paralegal|market trader|civil servant|optician|"
    "musician|ship's engineer|cleaner|butcher|journalist|swimming instructor|quantity surveyor|firefighter|playworker|"
    "glazier|seamstress|land agent|lab technician|barista|youth worker|crane operator|bookbinder|landscape gardener"
).split("|")
FAMILY = (
    "mother|father|single parent|widow|widower|grandmother|grandfather|carer|foster parent|"
    "twin|only child|newlywed|divorcee"
).split("|")
MAIL_DOMAINS = (
    "example.org",
    "example.com",
    "example.net",
    "mail.example.org",
    "post.example.com",
    "inbox.example.net",
)
MONTHS = ("January February March April May June July August September October November December").split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


@dataclass(frozen=True)
class Person:
    """One invented person."""

    first: str
    last: str
    sex: str
    middle: str = ""

    @property
    def full(self) -> str:
        """Return given name and surname."""
        return f"{self.first} {self.last}"


def surname(rng: Random) -> str:
    """Return an invented surname."""
    name = rng.choice(_ONSET) + rng.choice(_CODA)
    shape = rng.random()
    if shape < 0.05:
        return f"{name}-{rng.choice(_ONSET)}{rng.choice(_CODA)}"
    if shape < 0.09:
        return f"{rng.choice(('Mc', 'O’', 'van ', 'de ', 'El-', 'Mac', 'Di ', 'O'))}{name}".replace(
            "O" + name, "O'" + name
        )
    return name


def person(rng: Random, sex: str = "") -> Person:
    """Return an invented person, of the given sex if one is given."""
    sex = sex or rng.choice("fm")
    pool = FEMALE if sex == "f" else MALE
    return Person(rng.choice(pool), surname(rng), sex, rng.choice(pool))


def town(rng: Random) -> str:
    """Return an invented town."""
    name = rng.choice(_TOWN_A) + rng.choice(_TOWN_B)
    shape = rng.random()
    if shape < 0.06:
        return f"{rng.choice(('Upper', 'Lower', 'New', 'Great', 'Little', 'North', 'South', 'East', 'West'))} {name}"
    if shape < 0.09:
        return f"{name}-on-{rng.choice(_TOWN_A)}"
    return name


def street(rng: Random) -> str:
    """Return an invented street."""
    head = rng.choice(_STREET) if rng.random() < 0.7 else rng.choice(_TOWN_A) + rng.choice(_TOWN_B)
    return f"{head} {rng.choice(_STREET_KIND)}"


def address(rng: Random) -> str:
    """Return a house number and an invented street."""
    shape = rng.random()
    number = str(rng.randint(1, 240)) + (rng.choice("abcd") if rng.random() < 0.12 else "")
    if shape < 0.15:
        return f"Flat {rng.randint(1, 40)}, {number} {street(rng)}"
    return f"{number} {street(rng)}"


def phone(rng: Random) -> str:
    """Return a telephone number of the range set aside for fiction."""
    end = f"{rng.randint(100, 199):04d}"
    area = str(rng.randint(201, 989))
    return rng.choice(("{a} 555 {e}", "({a}) 555-{e}", "{a}-555-{e}", "555-{e}", "+1 {a} 555 {e}", "555 {e}")).format(
        a=area, e=end
    )


def email(rng: Random, who: Person) -> str:
    """Return a mail address on an example domain."""
    first, last = _ascii(who.first), _ascii(who.last)
    name = rng.choice(
        (f"{first}.{last}", f"{first[0]}{last}", f"{last}{rng.randint(1, 99)}", f"{first}_{last}", first + last[0])
    )
    return f"{name}@{rng.choice(MAIL_DOMAINS)}"


def username(rng: Random, who: Person) -> str:
    """Return a user name."""
    first, last = _ascii(who.first), _ascii(who.last)
    return rng.choice(
        (f"{first}{rng.randint(10, 99)}", f"{last}_{first[0]}", f"{first[:3]}{last[:4]}{rng.randint(1, 9)}")
    )


def code(rng: Random, shape: str) -> str:
    """Return a code: `#` becomes a digit, `?` a capital letter."""
    return "".join(
        str(rng.randint(0, 9)) if c == "#" else rng.choice("ABCDEFGHJKLMNPRSTUVWXYZ") if c == "?" else c for c in shape
    )


def company(rng: Random, kinds: tuple[str, ...]) -> str:
    """Return an invented organisation; a kind may hold `{n}` (a name) or `{t}` (a town)."""
    return rng.choice(kinds).format(n=rng.choice((surname, town))(rng), t=town(rng), s=surname(rng))


def _ascii(text: str) -> str:
    return "".join(c for c in text.lower() if "a" <= c <= "z")


DATE_STYLES = ("long", "long", "slash", "iso", "us", "dots", "short", "short_slash", "weekday", "ordinal", "dash")


def date_text(day: dt.date, style: str) -> str:
    """Return the date written in one of `DATE_STYLES`, or as `month`, `year`, `day`."""
    month = MONTHS[day.month - 1]
    suffix = "th" if 10 <= day.day % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    return {
        "long": f"{day.day} {month} {day.year}",
        "slash": f"{day.day:02d}/{day.month:02d}/{day.year}",
        "iso": day.isoformat(),
        "us": f"{month} {day.day}, {day.year}",
        "dots": f"{day.day}.{day.month}.{day.year}",
        "short": f"{day.day} {month[:3]} {day.year}",
        "short_slash": f"{day.day}/{day.month}/{day.year % 100:02d}",
        "weekday": f"{DAYS[day.weekday()]} {day.day} {month} {day.year}",
        "ordinal": f"{day.day}{suffix} {month} {day.year}",
        "dash": f"{day.day:02d}-{month[:3]}-{day.year}",
        "month": f"{month} {day.year}",
        "year": str(day.year),
        "day": f"{day.day} {month}",
        "dayname": DAYS[day.weekday()],
    }[style]
