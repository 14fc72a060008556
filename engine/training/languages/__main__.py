"""Write `names.csv.gz` and `places.csv.gz` of every language pack: `python -m engine.training.languages --data FOLDER`.

Sources: popular names by country (CC0), Berlin's first names (CC BY 3.0 DE), Estonian streets (Apache-2.0, EstNLTK),
towns and postcodes (CC BY 4.0, GeoNames), and the name lists of Faker (MIT).
"""

from __future__ import annotations

import argparse
import gzip
import importlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import regex

from engine.assets import ASSETS

NAME = regex.compile(r"\p{Lu}[\p{Latin}\p{M}'’ -]{1,30}")
TOWN = regex.compile(r"(?:[LD]['’])?\p{Lu}[\p{Latin}\p{M}'’ ()/-]{1,40}")
STREET = regex.compile(r"\p{Lu}[\p{Latin}\p{M}-]{2,}(?: \p{Lu}?[\p{Latin}\p{M}-]{2,})?")
MOST_NAMES = 1_200
MOST_PLACES = 1_500

MORE = {  # common names that the lists lack, written for this project
    ("et", "f"): "Mari Liis Anne Tiina Anu Katrin Kristi Kristiina Kadri Piret Triin Maarja Merle Signe Helen Helena "
    "Liina Kerli Kersti Külli Ülle Õie Aita Leida Linda Salme Hilda Elsa Helve Asta Malle Maie Maire Marika Monika "
    "Moonika Mare Maret Marge Margit Merike Milvi Reet Riina Ruth Silvi Siiri Sirje Tiiu Urve Vaike Virve Viivi Eha "
    "Endla Epp Ester Eve Evi Heili Hele Imbi Inga Ingrid Irja Jaanika Jana Janika Kaja Karin Kaire Kaidi Kairi Grete "
    "Greete Getter Eliise Johanna Laura Lisete Loore Luise Marleen Mirjam Rebeka Saara Teele Annika Birgit Britta",
    ("et", "m"): "Jaan Jüri Mart Märt Peeter Toomas Tiit Rein Ants Andres Andrus Aivar Ain Arvo Arno August Eino Endel "
    "Enn Erki Hando Hannes Harri Heino Henn Indrek Ivo Jaak Jaanus Jarmo Joosep Juhan Juku Kalev Kalju Karl Kaspar "
    "Kaur Kristjan Kuldar Lauri Lembit Madis Marek Margus Marko Mati Mattias Meelis Mihkel Olev Oliver Oskar Ott Paul "
    "Peep Priit Raimo Raul Riho Risto Rasmus Sander Siim Silver Sten Sulev Taavi Tambet Tanel Tarmo Taimo Tarvo Tauno "
    "Tiidu Toivo Tõnis Tõnu Uku Ülo Urmas Uno Vello Villu Veiko Villem Voldemar Hugo Robin Romet Georg Gregor Hendrik",
}


SURNAMES = {  # the same for surnames
    "pt": "Abrantes Abreu Afonso Aguiar Albuquerque Alcântara Alencar Almada Alvarenga Alvim Amado Amaral Ambrósio "
    "Amorim Andrade Antunes Aragão Araújo Arruda Assunção Ataíde Azevedo Bandeira Baptista Barata Barbosa "
    "Barradas Barreto Barroca Barros Barroso Bastos Batista Belchior Belo Bento Bernardes Bernardo Bessa "
    "Bettencourt Bezerra Bicudo Boavida Borges Botelho Braga Bragança Branco Brandão Brás Brito Bueno Cabral "
    "Caetano Caldas Caldeira Calado Câmara Camacho Camargo Caminha Campelo Campos Canelas Cardoso Carmo Carneiro "
    "Carrasco Carreira Carrilho Carvalhal Carvalho Casimiro Castanheira Castelo Castro Catarino Cavaco Cerqueira "
    "Chagas Chaves Cidade Clemente Coelho Conceição Cordeiro Corte Coutinho Couto Cruz Cunha Custódio Damasceno "
    "Damas Dantas Delgado Diniz Domingos Domingues Dourado Duarte Durão Esteves Estrela Evangelista Fagundes "
    "Falcão Faria Farias Feijó Feitosa Felgueiras Fernando Figueira Figueiredo Fonseca Fontes Fortunato Frade "
    "Fragoso França Franco Frazão Freire Freitas Frias Furtado Galvão Gama Garcês Garrido Gaspar Gil Godinho Góis "
    "Gouveia Graça Granja Guedes Guerra Guerreiro Guimarães Gusmão Henriques Hilário Homem Inácio Jacinto Jardim "
    "Jordão Júdice Lacerda Ladeira Lage Lages Lameira Leal Leão Leitão Leite Lemos Lobato Lobo Loureiro Lourenço "
    "Lucas Lucena Luz Macedo Machado Maciel Madeira Madureira Magalhães Maia Malheiro Malta Mamede Mansur Marinho "
    "Marreiros Marta Mascarenhas Matias Matos Mattos Medeiros Meira Meireles Mendonça Menezes Mesquita Miguel "
    "Milheiro Mimoso Miranda Modesto Moita Moniz Monteiro Morgado Mota Moura Mourão Moutinho Muniz Nascimento "
    "Nobre Nogueira Noronha Novais Oliva Outeiro Pacheco Padilha Paes Pais Paiva Palma Paredes Parente Passos "
    "Patrício Paulino Paz Pedrosa Peixoto Penha Pestana Pessoa Pimenta Pimentel Pinheiro Pires Pitta Pontes "
    "Portela Portugal Prado Prates Quadros Quaresma Queirós Queiroz Quental Quintal Quintela Ramalho Rangel "
    "Raposo Rebelo Rego Resende Rezende Rios Roque Rosado Rosário Saldanha Sales Salgado Salgueiro Salvador "
    "Sampaio Sanches Santana Santiago Saraiva Sarmento Seabra Seixas Sequeira Serpa Serra Serrano Severino Severo "
    "Simões Siqueira Soares Sobral Taborda Taveira Tavares Teles Telles Temudo Teodoro Toledo Torres Travassos "
    "Trigo Trindade Valadares Valadão Valente Valério Varela Vargas Vasconcelos Vasques Vaz Veiga Veloso Ventura "
    "Viana Vidal Vieira Vilar Vilela Vilhena Vinagre Xavier Zagalo Zarco",
}
REGIONS = {  # as the country itself writes them, where the list has English names
    "fi": {
        "Southwest Finland": "Varsinais-Suomi", "Päijänne Tavastia": "Päijät-Häme", "South Karelia": "Etelä-Karjala",
        "Southern Savonia": "Etelä-Savo", "Northern Savo": "Pohjois-Savo", "North Karelia": "Pohjois-Karjala",
        "Central Finland Region": "Keski-Suomi", "South Ostrobothnia Region": "Etelä-Pohjanmaa",
        "Ostrobothnia Region": "Pohjanmaa", "Central Ostrobothnia Region": "Keski-Pohjanmaa",
        "North Ostrobothnia Region": "Pohjois-Pohjanmaa", "Lapland": "Lappi",
    },
    "nl": {
        "Guelders": "Gelderland", "North Brabant": "Noord-Brabant", "North Holland": "Noord-Holland",
        "South Holland": "Zuid-Holland",
    },
    "pt": {"Azores": "Açores"},
    "de": {
        "Bavaria": "Bayern", "Lower Saxony": "Niedersachsen", "Saxony": "Sachsen", "Saxony-Anhalt": "Sachsen-Anhalt",
        "Mecklenburg-Western Pomerania": "Mecklenburg-Vorpommern", "Thuringia": "Thüringen", "Land Berlin": "Berlin",
    },
    "es": {
        "Andalucia": "Andalucía", "Aragon": "Aragón", "Cataluna": "Cataluña", "Pais Vasco": "País Vasco",
        "Castilla - Leon": "Castilla y León", "Castilla - La Mancha": "Castilla-La Mancha",
    },
}  # fmt: skip
BY_POST = frozenset({"fi", "nl", "pt", "sv"})  # of two villages of one name, the one with more post
SEX = {  # where a list has it wrong, or has a name of both and the wrong one first
    "de": {"Ada": "f", "Olav": "m"},
    "es": {"José": "m"},
    "sv": dict.fromkeys("Abdi Ahmed Ali Hassan Hussein Ibrahim Mohamed Mohammed".split(), "m"),
}
SPELT = {"es": {"Adadia": "Abadía", "Hervia": "Hevia", "Múñiz": "Muñiz"}, "fr": {"Alexandrie": "Alexandrine"}}
TOWNS = {
    "es": {
        "Cadiz": "Cádiz", "Huercal-Overa": "Huércal-Overa", "San Miguel De Abona": "San Miguel de Abona",
        "San Cristobal": "San Cristóbal",
    },
}  # fmt: skip
NO_NAMES = {  # what lists have beside names
    "de": frozenset({"Carmine", "Koch II", "Dussen van", "Ditschlerin", "Langern", "Gute", "Killer"}),
    "sv": frozenset({"Del"}),
}


@dataclass(frozen=True)
class Source:
    """Where one language's pools come from: countries by two letters, GeoNames' name of the land, a Faker locale."""

    code: str
    countries: tuple[str, ...]
    land: str
    postcodes: str
    locale: str
    more_locale: str = ""
    more_towns: str = ""  # "all": villages of the postal table too, the fullest first; "seats": of municipalities


SOURCES = (
    Source("et", ("EE",), "Estonia", "ee", "et_EE", more_towns="all"),
    Source("de", ("DE", "AT", "CH"), "Germany", "de", "de_DE"),
    Source("es", ("ES", "MX", "AR"), "Spain", "es", "es_ES"),
    Source("fr", ("FR", "BE", "CH"), "France", "fr", "fr_FR"),
    Source("fi", ("FI",), "Finland", "fi", "fi_FI", more_towns="all"),
    Source("sv", ("SE",), "Sweden", "se", "sv_SE", more_towns="all"),
    Source("nl", ("NL", "BE"), "Netherlands", "nl", "nl_NL"),
    Source("pt", ("PT", "BR"), "Portugal", "pt", "pt_PT", "pt_BR", "seats"),
)
"""Add a line here for a pack whose pools come from the same files; a pack may also bring its own."""


def names(data: Path, source: Source) -> pd.DataFrame:
    """Return name, kind (forename or surname) and sex (f, m or empty), most popular first."""
    fore = pd.read_csv(data / "common_forenames_by_country_CC0.csv.gz", keep_default_na=False)
    sur = pd.read_csv(data / "common_surnames_by_country_CC0.csv.gz", keep_default_na=False)
    rows: list[tuple[str, str, str]] = []
    home = fore[fore["Country"] == source.countries[0]]
    rows += [(n, "forename", s.lower()) for n, s in zip(home["Localized Name"], home["Gender"])]
    rows += [(n, "surname", "") for n in sur[sur["Country"] == source.countries[0]]["Localized Name"]]
    if source.more_locale:
        rows += [(n, "surname", "") for n in sur[sur["Country"].isin(source.countries[1:])]["Localized Name"]]
    for locale in filter(None, (source.locale, source.more_locale)):
        faker = importlib.import_module(f"faker.providers.person.{locale}").Provider
        for sex, attribute in (("f", "first_names_female"), ("m", "first_names_male")):
            rows += [(n, "forename", sex) for n in _listed(faker, attribute)]
        rows += [(n, "surname", "") for n in _listed(faker, "last_names")]
    rows += [(n, "surname", "") for n in SURNAMES.get(source.code, "").split()]
    rows += [(n, "forename", sex) for (code, sex), own in MORE.items() if code == source.code for n in own.split()]
    if source.code == "de":
        berlin = pd.read_csv(data / "de_vornamen_berlin_CCBY3DE.csv.gz", keep_default_na=False)
        rows += [
            (n, "forename", {"w": "f", "m": "m"}.get(s, "")) for n, s in zip(berlin["name"][:600], berlin["sex"][:600])
        ]
    sexes, spelt = SEX.get(source.code, {}), SPELT.get(source.code, {})
    out = NO_NAMES.get(source.code, frozenset())
    rows = [
        (spelt.get(n, n), kind, sexes.get(n, sex) if kind == "forename" else sex)
        for n, kind, sex in rows
        if n not in out
    ]
    table = pd.DataFrame([r for r in rows if NAME.fullmatch(r[0])], columns=["name", "kind", "sex"])
    table = table.drop_duplicates(["name", "kind"])
    return pd.concat([part[:MOST_NAMES] for _, part in table.groupby(["kind", "sex"], sort=True)])


def _listed(faker: object, attribute: str) -> Sequence[str]:
    found = getattr(faker, attribute, ())
    return sorted(found)


def places(data: Path, source: Source) -> pd.DataFrame:
    """Return name, kind (town, region or street), region and postcode of one country."""
    world = pd.read_csv(data / "world_cities_geonames_CCBY.csv.gz", keep_default_na=False)
    posts = pd.read_csv(data / f"places_{source.postcodes}_geonames_CCBY.csv.gz", dtype=str, keep_default_na=False)
    if source.code in BY_POST:
        posts = posts[posts["place"].map(str.istitle) | posts["place"].str.contains("[-' ]")]
        posts = posts.assign(n=posts["n"].astype(int)).sort_values(
            ["n", "place"], ascending=[False, True], kind="stable"
        )
    posts["state"] = posts["state"].replace(REGIONS.get(source.code, {}))
    posts = posts[~posts["place"].str.endswith((" As", " Kk", " Tl", " St"))]  # Finnish stations, churches, districts
    posts = posts[posts["place"] != "Oys"].drop_duplicates("place")  # a hospital
    posts["zipcode"] = posts["zipcode"].str.replace(" CEDEX.*", "", regex=True)  # what stands behind a firm's box
    post = dict(zip(posts["place"], zip(posts["state"], posts["zipcode"])))
    towns = world[world["country"] == source.land]["name"].tolist()
    if source.more_towns == "all":  # few towns of size
        towns += posts["place"].tolist()
    if source.more_towns == "seats":
        towns += posts[posts["place"] == posts["province"]]["place"].tolist()
    rows = [(t, "town", *post[t]) for t in dict.fromkeys(towns) if t in post and TOWN.fullmatch(t)][:MOST_PLACES]
    rows += [(s, "region", s, "") for s in dict.fromkeys(posts["state"]) if TOWN.fullmatch(s)]
    if source.code == "et":
        streets = pd.read_csv(data / "et_streets_estnltk.csv.gz", keep_default_na=False)["name"]
        kept = [s for s in _street_stems(streets) if STREET.fullmatch(s)]
        rows += [(s, "street", "", "") for s in kept[:: max(1, len(kept) // 900)]]
    spelt = TOWNS.get(source.code, {})
    rows = [(spelt.get(name, name), *rest) for name, *rest in rows]
    return pd.DataFrame(rows, columns=["name", "kind", "region", "postcode"])


def _street_stems(names: Iterable[str]) -> list[str]:
    """Return street names that are written with "tn" or "tee", which are streets for certain."""
    return sorted({n.removesuffix(" tn") for n in names if n.endswith((" tn", " tee", " pst")) and "." not in n[:-3]})


def write(table: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV, compressed without a time in it, so that the same data give the same file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(table.to_csv(index=False).encode("utf-8"), 9, mtime=0))


def main() -> int:
    """Write the pools of every source."""
    parser = argparse.ArgumentParser(prog="python -m engine.training.languages", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the lists of names and places")
    parser.add_argument("--out", type=Path, default=ASSETS / "languages")
    parser.add_argument("--only", nargs="*", default=[s.code for s in SOURCES], help="codes of languages")
    args = parser.parse_args()
    for source in (s for s in SOURCES if s.code in args.only):
        write(names(args.data, source), args.out / source.code / "names.csv.gz")
        write(places(args.data, source), args.out / source.code / "places.csv.gz")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
