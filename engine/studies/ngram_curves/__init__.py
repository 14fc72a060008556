"""Study `ngram-curves`: what one n-gram drawn straight from a corpus gives away."""
