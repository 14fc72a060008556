"""Models: what the engine asks of them, whatever runs them.

    contracts    what a generator, embedder, detector and tunable network must do
    catalogue    every language model of a workspace by one name, told without loading any
    constraints  keeps private values out of generated text; marks: what weights were fitted to private text
    builtin/     what ships with the program; builtin/decoder/ runs its network
    folder/      transformers models from a folder on this machine
    offered/     open models that are proposed, and which suit this machine
    remote/      OpenAI-compatible servers and the hub, after a written consent
    prompts/     operators (abstract, rephrase, expand ...) and templates
    tune/        fitting networks to records

May import `engine.corpus` and `engine.dp`. One more back end: a module with the contract's methods, a line in
`catalogue`, and the contract suite runs over it.
"""
