"""Is it about the same things? Two samples compared by sentence embeddings.

    embeddings       mean cosine and MAUVE; self_similarity: how alike the texts of one sample are
    distribution     kernel, Fréchet and transport distance, neighbourhoods, clusters, out of frechet and sinkhorn
    topics, text_map, likeness   what the Utility page shows: the most telling words of each topic, a plane for looking
                     at, how alike two texts are

May import `engine.examine.usefulness`'s own base and below. One more distance: a file here, and its line in
`engine.examine.usefulness.metrics`.
"""
