"""Finding, judging and replacing what identifies people.

    spans           spans, their types, decisions about them
    detect/         from text to spans: rules, tagger, known identifiers, lists
    decide/         the state of spans, and what to look at first
    redact/         one style a file; surrogates/: type-true replacements
    control_codes, fictional_codes  what identifies people in a text as a prompt, real and invented
    private_forms   the forms in which a value counts as given away
    evaluate, gold  detected spans against gold spans

May import `engine.models` and below. One more recogniser: a YAML entry in `assets/recognisers/`.
"""
