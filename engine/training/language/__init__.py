"""Training of the language model: data, vocabulary, sequences, packed rows, the loop, and what it is measured by."""
