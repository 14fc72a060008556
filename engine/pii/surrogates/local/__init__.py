"""Surrogates in other languages: names, places, dates and numbers of the record's own country."""
