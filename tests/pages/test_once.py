"""A press that starts work counts once until the page was drawn with its button unpressed."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest


def pressed_twice() -> None:
    """Draw a button whose page is left before it is drawn to its end, as a second press leaves it."""
    import streamlit as st

    from pages._ui.parts import once

    made: list[int] = st.session_state.setdefault("made", [])
    answers = st.session_state.setdefault("answers", iter(st.session_state.get("planned", [1, 2, 3])))
    if st.button("Start", key="start"):

        def start() -> int | None:
            answer = next(answers)
            if answer is not None:
                made.append(answer)
            return answer

        st.text(str(once.act("start", start)))
        st.stop()
    once.rearm("start")


def test_a_second_press_gets_the_first_result():
    app = AppTest.from_function(pressed_twice, default_timeout=30).run()
    app.button(key="start").click().run()
    app.button(key="start").click().run()
    assert app.session_state["made"] == [1]
    assert [text.value for text in app.text] == ["1"]


def test_a_press_on_a_page_drawn_anew_counts_again():
    app = AppTest.from_function(pressed_twice, default_timeout=30).run()
    app.button(key="start").click().run()
    app.run()
    app.button(key="start").click().run()
    assert app.session_state["made"] == [1, 2]


@pytest.mark.parametrize("refused", [[None, 5], [None, None, 5]])
def test_a_refused_press_may_be_repeated(refused):
    app = AppTest.from_function(pressed_twice, default_timeout=30)
    app.session_state["planned"] = refused
    app.run()
    for _ in refused:
        app.button(key="start").click().run()
    assert app.session_state["made"] == [5]
