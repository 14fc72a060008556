"""Choosing a synthesis method and what may be set of it.

    method_cards                  cards of the methods, and the choice between them
    parameters, parameter_names   a method's parameters as fields; what they are called on the pages
    prompt_templates              the editor of prompt templates
    readable                      what becomes of outputs that say nothing

May import what stands beside this folder. One more parameter needs nothing here but, where its name is a term, a line
in `parameter_names`.
"""
