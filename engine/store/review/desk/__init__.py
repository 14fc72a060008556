"""What a browser decided while it was ahead of the server.

    steps      a numbered queue of acts, each carried out exactly once
    since      an act that was decided upon older knowledge
    readers    who has which text in hand, where several people sign in
    refusals   why an act was refused: a code that is stored, a sentence that is told

May import what stands beside this folder. One more reason to refuse: a line in `refusals`.
"""
