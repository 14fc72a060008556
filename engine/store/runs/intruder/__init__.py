"""Intruder trials: a person tries, within a time box, to say whom a random sample of approved texts is of.

`trials` is the part of the workspace; `acts` what people do in a trial, `reading` what its rows say, `views` how that
looks from outside, `words` the sentences for the assessment file and the command line.
"""
