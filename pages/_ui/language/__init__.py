"""The language of the interface: English in the code, every other one a catalogue beside the language packs.

How to use:
    from pages._ui.language import mark, tr, trn
    st.button(tr("Import"))
    st.caption(tr("About {some} of {all} rows.", some=number(some), all=number(rows)))
    trn("{n} rule is not met.", "{n} rules are not met.", len(open_rules))
    NAMES = {"csv": mark("Comma")}                # noted for the catalogue where it stands, said later: tr(NAMES[key])
The English sentence is the id, whole and as a literal, so that `python -m pages._ui.language.extract` finds it. What
is inserted comes as it is: escape what is foreign (`texts.plain`) before, as in every sentence.
"""

from pages._ui.language.words import localised, lowered, mark, sentence, tr, translator, trn

__all__ = ("localised", "lowered", "mark", "sentence", "tr", "translator", "trn")
