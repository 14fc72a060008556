"""The built-in network and how it writes: continuous batches on a processor, several times faster than the library.

    llama_net   the network in plain torch; net: laid out for generation; attend: attention over ragged caches
    generate    batches of sequences under way (rows), next tokens drawn per sequence (draw), beam search (beam)
    steering    holds a text to what its prompt asks; prefix: virtual tokens in front; lora: adapters

`tests/benchmarks/generate.py` measures it against `transformers`; without that gain it would go.
"""
